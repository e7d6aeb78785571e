# The smallest sum of absolute weights with which a combination of sums gives one person weight 1, by linear programming (HiGHS).
# Argument: a file with a list of companies as JSON; each is a list of sets of people. Prints one number for each company: the
# smallest over all people.
import json
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("numpy is missing")
try:
    from scipy.optimize import linprog
except ImportError:
    sys.exit("scipy is missing")


def smallest(sets):
    places = {}
    for number, people in enumerate(sets):
        for person in people:
            places.setdefault(person, []).append(number)
    sizes = {}
    for own in places.values():
        sizes[tuple(own)] = sizes.get(tuple(own), 0) + 1
    classes = list(sizes)
    rows = np.zeros((len(sets), len(classes)))
    for column, own in enumerate(classes):
        rows[list(own), column] = 1
    people = np.array([sizes[own] for own in classes])
    # Unknowns: a factor for each set, and the absolute weight of each class.
    cost = np.concatenate([np.zeros(len(sets)), people])
    bounds = [(None, None)] * len(sets) + [(0, None)] * len(classes)
    limits = np.block([[rows.T, -np.eye(len(classes))], [-rows.T, -np.eye(len(classes))]])
    # No one is in any set: JSON has no infinity.
    best = 1e300
    for column in range(len(classes)):
        equal = np.concatenate([rows[:, column], np.zeros(len(classes))])[None, :]
        solution = linprog(cost, A_ub=limits, b_ub=np.zeros(2 * len(classes)), A_eq=equal, b_eq=[1], bounds=bounds)
        best = min(best, solution.fun)
    return best


with open(sys.argv[1]) as file:
    print(json.dumps([smallest(sets) for sets in json.load(file)]))
