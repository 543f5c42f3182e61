"""Options that several commands share."""

import click

store_option = click.option(
    "--store",
    default="site_out",
    show_default=True,
    metavar="STORE",
    help="Folder or s3://bucket/prefix of the builds.",
)
build_option = click.option("--build", "build_id", metavar="BUILD", help="Which build.  [default: the live one]")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
