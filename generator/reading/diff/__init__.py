"""What differs between two builds, in objects and in values.

compare    indexes and packs of both builds into tables and views of a scratch database (`build/diff/`)
reading    objects out of packs, in ranges
report     the part of the answer that is told to people: counts, and the first rows of each list
text       a report on a terminal
page       a report as one HTML page
moves      its plots
document   the whole answer as JSON, streamed
"""
