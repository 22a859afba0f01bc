"""What is not about Gin Rummy: checks of parameters, names with parameters, files, plots, the release."""
