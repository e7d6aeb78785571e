"""Recomputes the statistics of weeks from published figures, by the description in docs/administrators/statistics.md. Needs scipy.

Usage: statistics.py DATA
DATA: {"groups": {id: parent or null}, "questions": {id: type},
       "weeks": [{"week": Monday, "kpiWeeks": 13, "kpis": {id: [question, ...]},
                  "figures": [{"group", "question", "value", "answers", "asked", "distribution"}]}]}
Prints for each week the parameters of questions and KPIs, and the measures of each group: intervals, changes, differences, verdicts
and best estimates.
"""

import json
import sys
from datetime import date, timedelta
from math import sqrt

try:
    import numpy as np
    from scipy.stats import norm
    from scipy.stats import t as student
except ImportError:
    sys.exit("scipy is missing")

SCALES = {1: (1, 5), 2: (1, 10), 3: (0, 10), 4: (0, 1)}
LIMIT = 1.5
# The mean of squares of standard normal values that are limited to 1.5².
LIMITED_MEAN = (2 * norm.cdf(LIMIT) - 1) - 2 * LIMIT * norm.pdf(LIMIT) + LIMIT**2 * 2 * norm.sf(LIMIT)
SPANS = [2, 6, 13, 30]
KINDS = ["change", "company", "parent", "halfYear"]


def shifted(week, weeks):
    return (date.fromisoformat(week) + timedelta(weeks=weeks)).isoformat()


def weeks_between(earlier, later):
    return (date.fromisoformat(later) - date.fromisoformat(earlier)).days / 7


def halved(function, low, high, times):
    """Where an increasing function is 0, by halving the interval; the nearer end if it is 0 nowhere between."""
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def excess(squares):
    """By how much the mean of limited squares is above that of a normal sample."""
    return sum(min(one, LIMIT**2) for one in squares) / len(squares) - LIMITED_MEAN if squares else 0


def quantile(freedom):
    z = norm.ppf(0.975)
    return (
        z
        + (z**3 + z) / 4 / freedom
        + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / freedom**2
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / freedom**3
    )


def mean_variance(figure, share):
    asked = figure["asked"]
    return 1 / figure["answers"] - (0 if asked is None else share / max(asked, figure["answers"]))


class Quantity:
    """An estimate with the variance of its error; None if it is not known."""

    def __init__(self, by, variance, freedom, answers, **more):
        self.by, self.variance, self.freedom, self.answers = by, variance, freedom, answers
        self.more = more

    def is_tested(self):
        return self.variance is not None and self.variance > 0

    def margin(self):
        return quantile(self.freedom) * sqrt(self.variance) if self.is_tested() else None

    def probability(self):
        t = abs(self.by) / sqrt(self.variance)
        return 1 if t < 1 else 2 * student.sf(t, self.freedom)


def mean_of(parts, factor=1, together=False):
    """The mean over questions. Errors add up within a week, or over all weeks; squares of weeks add up."""
    errors = {}
    for week, one in parts:
        key = "" if together else week
        if one.variance is None or errors.get(key, 0) is None:
            errors[key] = None
        else:
            errors[key] = errors.get(key, 0) + sqrt(one.variance)
    count = len(parts)
    known = all(one is not None for one in errors.values())
    return Quantity(
        sum(one.by for _, one in parts) / count,
        factor * sum(one**2 for one in errors.values()) / count**2 if known else None,
        sum(one.freedom for _, one in parts) if known else None,
        sum(one.answers for _, one in parts) / count,
    )


def weight_of(answers, mean):
    return 0.2 + 0.8 * min(answers, 300) / mean


def cutoff_of(tests):
    """Benjamini and Hochberg's step up, with weights. Each test: a probability and a number of answers."""
    if not tests:
        return None
    mean = sum(min(answers, 300) for _, answers in tests) / len(tests)
    ordered = sorted(probability / weight_of(answers, mean) for probability, answers in tests)
    clear = [rank for rank, one in enumerate(ordered, 1) if one <= 0.04 * rank / len(tests)]
    return {"level": 0.04 * max(clear) / len(tests) if clear else 0, "answers": mean}


def verdict(quantity, cutoff):
    if cutoff is None or cutoff["level"] == 0 or not quantity.is_tested():
        return "unclear"
    if quantity.probability() / weight_of(quantity.answers, cutoff["answers"]) > cutoff["level"]:
        return "unclear"
    return "up" if quantity.by > 0 else "down"


def between_groups(parts):
    """The mean of the variance, weighted with itself and its likelihood. Each part: a difference from the parent group and its variance."""
    if len(parts) < 10:
        return None
    by, error = np.array(parts).T

    def log_likelihood(tau):
        return -0.5 * np.sum(np.log(tau + error) + by**2 / (tau + error))

    # The logarithm of the variance makes the integrand smooth. Gauss and Legendre's rule in narrow parts of the range.
    at = np.linspace(-40, np.log(0.25), 401)
    logs = np.array([log_likelihood(np.exp(x)) + x for x in at])
    likely = np.flatnonzero(logs > logs.max() - 40)
    bounds = np.linspace(at[max(likely[0] - 1, 0)], at[min(likely[-1] + 1, 400)], 41)
    half = (bounds[1] - bounds[0]) / 2
    nodes, weights = np.polynomial.legendre.leggauss(16)
    points = np.add.outer(bounds[:-1] + half, half * nodes).ravel()
    heights = np.exp([log_likelihood(np.exp(x)) + x - logs.max() for x in points]) * np.tile(weights, 40)
    return np.sum(heights * np.exp(2 * points)) / np.sum(heights * np.exp(points))


def steady(moves, enough):
    if len(moves) < enough:
        return 0
    if len(moves) > 2000:
        sys.exit("more than 2,000 changes: the description does not say which of them count")
    return halved(lambda rho: excess([m["square"] / (m["all"] - rho * m["known"]) for m in moves]), 0, 0.95, 20)


def span_of(earlier, later):
    return sum(weeks_between(earlier, later) > one for one in SPANS)


class Account:
    def __init__(self, data):
        self.parents = {int(group): parent for group, parent in data["groups"].items()}
        self.types = {int(question): type_ for question, type_ in data["questions"].items()}
        self.kpis = {}  # The questions of KPIs, by week.
        self.windows = {}  # Weeks of rolling values, by week.
        self.figures = {}  # By group, question and week.
        self.asked = {}  # Weeks by question.
        self.sums = {}
        self.variations = {}  # By question and week.
        self.moves = {}
        self.ratios = {}
        self.kpi_rows = {}  # Parameters by KPI and week.

    # Groups and their figures

    def top(self, group):
        above = None
        while self.parents.get(group) is not None:
            group = above = self.parents[group]
        return above

    def latest(self, group, question, first, last):
        own = self.figures.get(group, {}).get(question, {})
        weeks = [week for week, one in own.items() if first <= week <= last and one["value"] is not None]
        return (max(weeks), own[max(weeks)]) if weeks else None

    def previous(self, group, question, week):
        earlier = [one for one in self.asked[question] if one < week][-3:]
        if not earlier:
            return None
        return self.latest(group, question, max(earlier[0], shifted(week, -56)), shifted(week, -1))

    def latest_of(self, group, questions, last, weeks):
        found = [(one, self.latest(group, one, shifted(last, 1 - weeks), last)) for one in questions]
        return [(question, *one) for question, one in found if one]

    def variation(self, question, week):
        known = [one for one in self.variations.get(question, {}) if one <= week]
        return self.variations[question][max(known)] if known else None

    # The variance of answers

    def cells(self, question, distributions):
        """Sums over groups, of which the answers of subgroups with a distribution are subtracted."""
        rests = {group: dict(own) for group, own in distributions.items()}
        for group, own in distributions.items():
            above = self.parents.get(group)
            while above is not None and above not in distributions:
                above = self.parents.get(above)
            if above is not None:
                for value, count in own.items():
                    rests[above][value] = rests[above].get(value, 0) - count
        low, high = SCALES[self.types[question]]
        sums = {"squares": 0, "freedom": 0, "answers": 0, "cells": 0}
        for rest in rests.values():
            answers = sum(rest.values())
            if min(rest.values()) < 0 or answers < 2:
                continue
            points = [
                ((int({"yes": 1, "no": 0}.get(value, value)) - low) / (high - low), count)
                for value, count in rest.items()
            ]
            mean = sum(value * count for value, count in points) / answers
            sums["squares"] += sum(count * (value - mean) ** 2 for value, count in points)
            sums["freedom"] += answers - 1
            sums["answers"] += answers
            sums["cells"] += 1
        return sums if sums["cells"] >= 2 else None

    def variance(self, question, week):
        recent = [one for at, one in self.sums.get(question, []) if at >= shifted(week, -56)]
        enough = [one for one in recent if one["answers"] >= 50]
        used = enough[-1:] or recent
        if sum(one["answers"] for one in used) < 50:
            return None
        variance = sum(one["squares"] for one in used) / sum(one["freedom"] for one in used)
        return variance if variance > 0 else None

    # How steady attitudes are

    def movement(self, question, week):
        recent = {
            one: [move for move in moves if move["before"] >= shifted(week, -56)]
            for one, moves in self.moves.items()
        }
        by_span = [[] for _ in range(len(SPANS) + 1)]
        tops = []
        for moves in recent.values():
            for move in moves:
                (tops if move["isTop"] else by_span[span_of(move["before"], move["week"])]).append(move)

        def of_all(span):
            own = by_span[span]
            return steady(own if len(own) >= 200 else sum(by_span[span:], []), 200)

        enough = [span for span, own in enumerate(by_span) if len(own) >= 200]
        present = of_all(enough[0]) if enough else 0
        earlier = [one for one in self.asked.get(question, []) if one < week]
        span = span_of(earlier[-1], week) if earlier else len(SPANS)
        share = of_all(span)
        if share > 0:
            own = [
                move
                for move in recent.get(question, [])
                if not move["isTop"] and span_of(move["before"], move["week"]) >= span
            ]
            share = (steady(own, 1) * len(own) + share * 400) / (len(own) + 400)
        shared = 0
        if len(tops) >= 8:
            shared = halved(
                lambda more: -excess([m["square"] / (m["all"] - share * m["known"] + more) for m in tops]), 0, 1, 20
            )
        return {"steadyShare": share, "presentShare": max(present, share), "sharedMovement": shared}

    def move(self, group, question, week):
        now = self.figures.get(group, {}).get(question, {}).get(week)
        before = self.previous(group, question, week) if now and now["value"] is not None else None
        if not before:
            return None
        pair = [now, before[1]]
        return {
            "by": now["value"] - before[1]["value"],
            "before": before[0],
            "all": sum(1 / one["answers"] for one in pair),
            "known": 0
            if any(one["asked"] is None for one in pair)
            else sum(1 / max(one["asked"], one["answers"]) for one in pair),
        }

    def add_moves(self, week, variances):
        for question, variance in variances.items():
            for group in self.figures:
                own = self.move(group, question, week)
                if not own:
                    continue
                top = self.top(group)
                if top is not None:
                    whole = self.move(top, question, week)
                    if not whole or whole["before"] != own["before"]:
                        continue
                    own = {key: own[key] if key == "before" else own[key] - whole[key] for key in own}
                    if own["known"] <= 0 or own["all"] <= 0:
                        continue
                square = own["by"] ** 2 / variance
                self.moves.setdefault(question, []).append({**own, "week": week, "isTop": top is None, "square": square})

    # Changes and differences

    def change(self, group, question, week, figure, with_shared=True):
        before = self.previous(group, question, week)
        if not before:
            return None
        since, earlier = before
        by = figure["value"] - earlier["value"]
        variation = self.variation(question, week)
        if not variation:
            return Quantity(by, None, None, figure["answers"], since=since, questions=1)
        then = self.variation(question, since) or variation
        shared = variation["sharedMovement"] if with_shared else 0
        return Quantity(
            by,
            variation["variance"] * (mean_variance(figure, variation["steadyShare"]) + shared)
            + then["variance"] * mean_variance(earlier, variation["steadyShare"]),
            4 * min(figure["answers"], earlier["answers"]),
            2 / (1 / figure["answers"] + 1 / earlier["answers"]),
            since=since,
            questions=1,
        )

    def kpi_change(self, group, latest, factor, with_shared=True):
        parts = [(week, self.change(group, question, week, figure, with_shared)) for question, week, figure in latest]
        parts = [(week, one) for week, one in parts if one]
        if not parts:
            return None
        mean = mean_of(parts, factor)
        mean.more = {"since": max(one.more["since"] for _, one in parts), "questions": len(parts)}
        return mean

    def first_since(self, kpi, group, latest):
        """The earliest of the earlier weeks, if the change is not the rolling value minus that of the latest of them."""
        before = {question: self.previous(group, question, at) for question, at, _ in latest}
        weeks = [one[0] for one in before.values() if one]
        since = max(weeks)
        then = self.latest_of(group, self.kpis[since].get(kpi, []), since, self.windows[since])
        if {question: at for question, at, _ in then} == {one: own and own[0] for one, own in before.items()}:
            return {}
        return {"firstSince": min(weeks)}

    def difference(self, kind, group, latest, week, kpi_weeks):
        parts = []
        other = self.top(group) if kind == "company" else self.parents.get(group)
        for question, at, figure in latest:
            variation = self.variation(question, at)
            if kind == "halfYear":
                last = shifted(week, -26)
                then = self.latest(group, question, shifted(last, 1 - kpi_weeks), last)
                if not then or then[0] >= at:
                    continue
                base = then[1]
                errors = 1 / figure["answers"] + 1 / base["answers"]
                variance = variation and variation["variance"] * (errors + variation["sharedMovement"])
                freedom = 4 * min(figure["answers"], base["answers"])
                answers = 2 / errors
            else:
                base = self.figures.get(other, {}).get(question, {}).get(at) if other is not None else None
                if not base or base["value"] is None:
                    continue
                own = 1 / figure["answers"]
                variance = variation and variation["variance"] * max(own - 1 / base["answers"], 0.02 * own)
                freedom, answers = 4 * figure["answers"], figure["answers"]
            by = figure["value"] - base["value"]
            part = Quantity(by, variance, freedom, answers) if variation else Quantity(by, None, None, figure["answers"])
            part.more = {"value": base["value"]}
            parts.append((at, part))
        if not parts:
            return None
        mean = mean_of(parts, together=True)
        mean.more = {"value": sum(one.more["value"] for _, one in parts) / len(parts)}
        return mean

    def rolling(self, latest, factor):
        parts = []
        for question, week, figure in latest:
            variation = self.variation(question, week)
            variance = variation and variation["variance"] * mean_variance(figure, variation["presentShare"])
            parts.append((week, Quantity(figure["value"], variance, 4 * figure["answers"], figure["answers"])))
        return mean_of(parts, factor)

    def above(self, group, latest, factor):
        """The variance of the parent group's value over the same questions and weeks."""
        own = self.figures.get(self.parents.get(group), {})
        found = [(question, at, own.get(question, {}).get(at)) for question, at, _ in latest]
        found = [one for one in found if one[2] and one[2]["value"] is not None]
        return self.rolling(found, factor).variance if found else None

    # Weeks

    def factor(self, kpi, week):
        def mean(rows):
            pairs = sum(one["pairs"] for one in rows)
            return pairs, sum(one["ratio"] * one["pairs"] for one in rows) / pairs if pairs else 0

        recent = {
            id_: [one for one in rows if one["week"] >= shifted(week, -56)] for id_, rows in self.ratios.items()
        }
        pairs, ratio = mean(sum(recent.values(), []))
        if pairs < 200:
            return 1
        own_pairs, own = mean(recent.get(kpi, []))
        return min(max((own * own_pairs + ratio * 400) / (own_pairs + 400), 0.1), 4)

    def ratio(self, week, changes):
        """Of changes compared with the top's. Each: change and its variance without shared movement and factor."""
        squares = []
        for group, own in changes.items():
            whole = changes.get(self.top(group))
            if own["isNew"] and whole and whole["questions"] == own["questions"]:
                rest = own["variance"] - whole["variance"]
                if rest > 0:
                    squares.append((own["by"] - whole["by"]) ** 2 / rest)
        ratio = halved(lambda by: -excess([one / by for one in squares]), 0.01, 100, 20) if len(squares) >= 10 else None
        return {"ratio": ratio, "pairs": len(squares)}

    def add(self, data):
        week, kpi_weeks = data["week"], data["kpiWeeks"]
        self.kpis[week], self.windows[week] = data["kpis"], kpi_weeks
        distributions = {}
        questions = sorted({one["question"] for one in data["figures"]})
        for one in data["figures"]:
            if one["distribution"]:
                distributions.setdefault(one["question"], {})[one["group"]] = one["distribution"]
        sums = {one: self.cells(one, own) for one, own in distributions.items()}
        sums = {one: own for one, own in sums.items() if own}
        for question, own in sums.items():
            self.sums.setdefault(question, []).append((week, own))
        variances = {one: self.variance(one, week) for one in questions}
        variances = {one: variance for one, variance in variances.items() if variance is not None}
        measured = {one: {"variance": own, **self.movement(one, week)} for one, own in variances.items()}
        for question, variation in measured.items():
            self.variations.setdefault(question, {})[week] = variation
        for question in questions:
            self.asked.setdefault(question, []).append(week)
        for one in data["figures"]:
            self.figures.setdefault(one["group"], {}).setdefault(one["question"], {})[week] = one

        groups = {group: {"questions": {}, "kpis": {}} for group in sorted(self.figures)}
        question_rows = self.questions_of(week, kpi_weeks, measured, groups)
        self.add_moves(week, variances)
        kpi_rows = self.kpis_of(week, kpi_weeks, groups)
        return {"variations": sums, "questions": question_rows, "kpis": kpi_rows, "groups": groups}

    def questions_of(self, week, kpi_weeks, measured, groups):
        tests = {kind: [] for kind in KINDS}
        around = {one: [] for one in measured}
        found = []
        for group, own in self.figures.items():
            for question, by_week in own.items():
                figure = by_week.get(week)
                if not figure or figure["value"] is None:
                    continue
                latest = [(question, week, figure)]
                quantities = {kind: self.difference(kind, group, latest, week, kpi_weeks) for kind in KINDS[1:]}
                quantities["change"] = self.change(group, question, week, figure)
                error = self.rolling(latest, 1)
                small = figure["answers"] < 50
                above = self.above(group, latest, 1)
                found.append((group, question, figure["value"], small, quantities, error, above))
                if question in measured:
                    for kind, one in quantities.items():
                        if one and one.is_tested():
                            tests[kind].append((one.probability(), one.answers))
                    if quantities["parent"] and small:
                        around[question].append((quantities["parent"].by, error.variance - parents_part(error, above)))
        cutoffs = cutoffs_of(tests)
        between = {one: between_groups(parts) for one, parts in around.items()}
        for group, question, value, small, quantities, error, above in found:
            own_cutoffs = cutoffs if question in measured else {}
            best = estimate(value, quantities["parent"], between.get(question), error, above) if small else None
            groups[group]["questions"][question] = shown(quantities, error, own_cutoffs, best)
        return {one: {**own, "groupVariance": between[one], "cutoffs": cutoffs} for one, own in measured.items()}

    def kpis_of(self, week, kpi_weeks, groups):
        tests = {kind: [] for kind in KINDS}
        rows, found = {}, []
        for kpi, questions in self.kpis[week].items():
            factor = self.factor(kpi, week)
            changes, around, own = {}, [], []
            for group in self.figures:
                latest = self.latest_of(group, questions, week, kpi_weeks)
                if not latest:
                    continue
                quantities = {kind: self.difference(kind, group, latest, week, kpi_weeks) for kind in KINDS[1:]}
                change = quantities["change"] = self.kpi_change(group, latest, factor)
                if change:
                    change.more = {**change.more, **self.first_since(kpi, group, latest)}
                error = self.rolling(latest, factor)
                for kind, one in quantities.items():
                    if one and one.is_tested():
                        tests[kind].append((one.probability(), one.answers))
                if change and change.is_tested():
                    shares = [(self.variation(one, at) or {"steadyShare": 0})["steadyShare"] for one, at, _ in latest]
                    changes[group] = {
                        "by": change.by,
                        "variance": self.kpi_change(group, latest, 1, with_shared=False).variance,
                        "questions": change.more["questions"],
                        "isNew": any(at == week for _, at, _ in latest) and min(shares) > 0,
                    }
                small = any(figure["answers"] < 50 for _, _, figure in latest)
                if quantities["parent"] and error.is_tested() and small:
                    above = self.above(group, latest, factor)
                    around.append((quantities["parent"].by, error.variance - parents_part(error, above)))
                own.append((group, latest, quantities, error))
            rows[kpi] = {"factor": factor, **self.ratio(week, changes), "groupVariance": between_groups(around)}
            found += [(kpi, *one) for one in own]
        cutoffs = cutoffs_of(tests)
        for kpi, row in rows.items():
            row["cutoffs"] = cutoffs
            self.kpi_rows.setdefault(kpi, {})[week] = row
        for kpi, group, latest, quantities, error in found:
            # A value that stays the same keeps the parameters of the week of its newest figure.
            newest = max(at for _, at, _ in latest)
            known = [at for at in self.kpi_rows[kpi] if at <= newest]
            unknown = {"factor": 1, "groupVariance": None, "cutoffs": {}}
            row = self.kpi_rows[kpi][max(known)] if known else unknown
            if newest != week:
                error = self.rolling(latest, row["factor"])
                change = self.kpi_change(group, latest, row["factor"])
                if change:
                    change.more = quantities["change"].more
                quantities = {**quantities, "change": change}
            small = any(figure["answers"] < 50 for _, _, figure in latest)
            above = self.above(group, latest, row["factor"])
            best = estimate(error.by, quantities["parent"], row["groupVariance"], error, above) if small else None
            groups[group]["kpis"][kpi] = {
                "value": error.by,
                "questions": len(latest),
                "firstWeek": min(at for _, at, _ in latest),
                "lastWeek": max(at for _, at, _ in latest),
                **shown(quantities, error, row["cutoffs"], best),
            }
        for kpi, row in rows.items():
            if row["ratio"] is not None:
                self.ratios.setdefault(kpi, []).append({"week": week, **row})
        return rows


def cutoffs_of(tests):
    cutoffs = {kind: cutoff_of(own) for kind, own in tests.items()}
    return {kind: cutoff for kind, cutoff in cutoffs.items() if cutoff}


def parents_part(error, above):
    """The variance of the parent group's value, which is a part of that of the group's own value."""
    return min(above, 0.98 * error.variance)


def estimate(value, parent, between, error, above):
    if not parent or between is None or not error.is_tested():
        return None
    part = parents_part(error, above)
    weight = between / (between + error.variance - part)
    margin = quantile(error.freedom) * sqrt(part + weight * (error.variance - part))
    return {"value": value - (1 - weight) * parent.by, "margin": margin, "weight": weight}


def shown(quantities, error, cutoffs, best):
    return {
        "margin": error.margin(),
        "bestEstimate": best,
        **{
            kind: one and {"by": one.by, **one.more, "verdict": verdict(one, cutoffs.get(kind))}
            for kind, one in quantities.items()
        },
    }


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    account = Account(data)
    print(json.dumps({week["week"]: account.add(week) for week in data["weeks"]}))


main()
