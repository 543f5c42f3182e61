"""The commands of `cardpress`, one module each: options in, one call, results out."""
