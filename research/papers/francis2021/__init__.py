"""Francis, Just and Neller, Opponent Hand Estimation in Gin Rummy (2021)."""
