"""The operator's report of a build: how fresh and how complete it is, what the gates said, what took time.

prices  counts over the build's own prices, by the SQL of `build/report/`
facts   all that is told of a build, from its record and from what nights left in the store
page    the facts as one HTML page
write   the pages of a night, side by side
"""
