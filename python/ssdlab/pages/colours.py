"""The colours of schemes, the same in every figure."""

__all__ = ["COLOURS", "DARK_COLOURS"]

# Okabe and Ito's colours, which people with any colour vision can tell apart; brown replaces yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
# The same hues, lighter: at least 4.5 : 1 on the backgrounds of a dark page, as WCAG 2 asks of text (AA).
DARK_COLOURS = ("#4DA3E0", "#F58A3C", "#2FC79A", "#E39BC4", "#F2B53A", "#9AD8FF", "#FFFFFF", "#C9A45C")
