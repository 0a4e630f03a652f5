"""Charts as SVG: frontier, contamination ledger, utility losses, heat map by category.

Needs the extra ``charts``; it is imported only when a chart is drawn. The pictures hold no script, no link and no
font file: text is in the reader's own sans-serif font.
"""

from agent_litmus.formats.charts.adapters import category_rates, frontier_points, utility_loss
from agent_litmus.formats.charts.data import (
    CategoryRate,
    FrontierPoint,
    OutcomeSplit,
    Share,
    Standing,
    UtilityLoss,
)
from agent_litmus.formats.charts.files import write_charts
from agent_litmus.formats.charts.frontier import frontier_svg
from agent_litmus.formats.charts.heatmap import heatmap_svg
from agent_litmus.formats.charts.ledger import ledger_svg
from agent_litmus.formats.charts.losses import losses_svg

__all__ = [
    "CategoryRate",
    "FrontierPoint",
    "OutcomeSplit",
    "Share",
    "Standing",
    "UtilityLoss",
    "category_rates",
    "frontier_points",
    "frontier_svg",
    "heatmap_svg",
    "ledger_svg",
    "losses_svg",
    "utility_loss",
    "write_charts",
]
