"""Recomputes key drivers from published figures, by the description in docs/administrators/drivers.md alone. Needs numpy.

Usage: drivers.py FEED GROUPS ASKS
FEED: the rows of the feed for questions, as NDJSON. GROUPS: the response of GET /v1/groups.
ASKS: {"weeks": 13, "kpis": {id: [question, ...]}, "outcomes": {name: {"questions": [...], "without": [KPI, ...]}}}
Prints, for each outcome, the groups, the share explained, and each KPI's weight and correlation.
"""

import json
import sys
from datetime import date, timedelta

try:
    import numpy
except ImportError:
    sys.exit("numpy is missing")

MINIMUM_GROUPS = 20


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def latest_figures(rows, weeks):
    """Steps 1 and 2: for each group and question, the value and answers of the latest shown figure in the weeks."""
    closed = [row for row in rows if row["status"] != "open"]
    last = max(date.fromisoformat(row["monday"]) for row in closed)
    first = last - timedelta(weeks=weeks - 1)
    found = {}
    for row in sorted(closed, key=lambda row: row["monday"]):
        if row["status"] == "shown" and date.fromisoformat(row["monday"]) >= first:
            found.setdefault(row["groupId"], {})[int(row["metricId"])] = (row["value"], row["answers"])
    return found


def reading(figures, questions):
    """The mean value, and the mean number of answers."""
    own = [figures[one] for one in questions if one in figures]
    if not own:
        return None
    return sum(value for value, _ in own) / len(own), sum(answers for _, answers in own) / len(own)


def compared(complete, subgroups):
    """Steps 5 and 6: the complete groups without a complete group below them, of one tree if it has enough."""
    finest = [one for one in complete if not subgroups[one] & complete]
    below_top = set().union(*subgroups.values())
    tops = sorted(set(subgroups) - below_top)
    trees = [[one for one in finest if one == top or one in subgroups[top]] for top in tops]
    largest = max(trees, key=len, default=[])
    return sorted(largest if len(largest) >= MINIMUM_GROUPS else finest)


def drivers(figures, subgroups, kpis, outcome):
    """Steps 3 to 9."""
    of_outcome = {group: reading(own, outcome) for group, own in figures.items()}
    shown = {group for group, own in of_outcome.items() if own}
    left_out = {}
    readings = {}
    for kpi, questions in kpis.items():
        others = [one for one in questions if one not in outcome]
        own = {group: reading(figures[group], others) for group in shown}
        readings[kpi] = {group: one for group, one in own.items() if one}
        if not others:
            left_out[kpi] = "sameQuestions"
        elif len(readings[kpi]) < 0.8 * len(shown):
            left_out[kpi] = "fewFigures"
    while True:
        used = sorted(set(kpis) - set(left_out))
        complete = {group for group in shown if all(group in readings[kpi] for kpi in used)}
        groups = compared(complete, subgroups)
        if len(groups) >= max(MINIMUM_GROUPS, 3 * len(used)):
            break
        if not used:
            return {"groups": groups, "leftOut": left_out}
        fewest = min(len(readings[kpi]) for kpi in used)
        left_out[max(kpi for kpi in used if len(readings[kpi]) == fewest)] = "fewGroups"
    for kpi in used:
        if len({round(readings[kpi][group][0], 9) for group in groups}) == 1:
            left_out[kpi] = "constant"
    used = [kpi for kpi in used if kpi not in left_out]

    answers = numpy.array([of_outcome[group][1] for group in groups])
    weights = answers / (answers + 10)
    weights /= weights.sum()
    table = numpy.array([[readings[kpi][group][0] for kpi in used] + [of_outcome[group][0]] for group in groups])
    centred = table - weights @ table
    covariance = centred.T @ (centred * weights[:, None])
    deviations = numpy.sqrt(numpy.diag(covariance))
    correlations = covariance / numpy.outer(deviations, deviations)
    among, with_outcome = correlations[:-1, :-1], correlations[:-1, -1]

    values, vectors = numpy.linalg.eigh(among)
    kept = values > 1e-10 * values.max()
    values, vectors = values[kept], vectors[:, kept]
    root = vectors @ numpy.diag(numpy.sqrt(values)) @ vectors.T
    inverse = vectors @ numpy.diag(1 / numpy.sqrt(values)) @ vectors.T
    shares = root**2 @ (inverse @ with_outcome) ** 2
    return {
        "groups": groups,
        "leftOut": left_out,
        "explained": float(shares.sum()),
        "drivers": {
            kpi: {"weight": float(share), "correlation": float(correlation)}
            for kpi, share, correlation in zip(used, shares, with_outcome)
        },
    }


def main():
    feed, groups, asks = sys.argv[1:]
    asks = json.loads(read(asks))
    figures = latest_figures([json.loads(line) for line in read(feed).splitlines()], asks["weeks"])
    subgroups = {group["id"]: set(group["subgroups"]) for group in json.loads(read(groups))}
    results = {}
    for name, outcome in asks["outcomes"].items():
        kpis = {kpi: own for kpi, own in asks["kpis"].items() if kpi not in outcome["without"]}
        results[name] = drivers(figures, subgroups, kpis, outcome["questions"])
    print(json.dumps(results))


main()
