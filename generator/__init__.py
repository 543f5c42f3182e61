"""The batch side of cardpress: lake tables become objects in a store.

The data walks through once: `lake` finds and checks the source files, `database` runs the SQL of `build/`
over them, the modules of `layers/` turn its rows into objects, `packs` writes those into the store, `build`
ties layers into a build and `publish` makes it live. `commands/` is the command line over all of it.
"""
