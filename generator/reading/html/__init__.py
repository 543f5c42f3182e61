"""Pages for operators, each one HTML file that asks nothing of anybody: styles, plots and the script are inside it.

page    the templates of `templates/`, and how they say numbers
plot    columns of an SVG
"""
