"""Code that is not specific to Gin Rummy: parameter checks, names with parameters, files, plots."""
