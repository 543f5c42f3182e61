"""Renders pages for operators as single HTML files: styles, plots and the script are inside the file."""
