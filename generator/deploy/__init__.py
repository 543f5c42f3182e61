"""The files to deploy with: examples, adapted to the places of an operator."""
