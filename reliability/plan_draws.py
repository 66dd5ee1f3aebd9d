"""How often a plan is drawn where nobody says otherwise, and how often it may be; light, so that the command line can say so."""

DRAWS, SEED = 4000, 7
FEWEST_DRAWS, MOST_DRAWS = 100, 200_000
