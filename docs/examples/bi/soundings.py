"""Reads the data interface of Soundings with Python's standard library."""

import csv
import io
import json
import os
import time
from datetime import date
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

ADDRESS = os.environ["SOUNDINGS_URL"]
TOKEN = os.environ["SOUNDINGS_TOKEN"]
PERIOD = {"fromDate": "2025-01-01", "toDate": date.today().isoformat()}


def ask(path, **parameters):
    """Opens a response for streaming. Waits as long as the service requests."""
    address = f"{ADDRESS}{path}?{urlencode(parameters)}"
    for _ in range(10):
        try:
            return urlopen(Request(address, headers={"Authorization": TOKEN}))
        except HTTPError as error:
            if error.code not in (429, 503):
                raise SystemExit(f"{error.code}: {json.load(error)['message']}")
            time.sleep(int(error.headers["Retry-After"]))
    raise SystemExit("The service is not there.")


# The feed: one row for each group, week and metric.


def feed(**parameters):
    """The rows of the feed, one after another."""
    with ask("/v1/feed", **parameters) as response:
        for row in csv.DictReader(io.TextIOWrapper(response, "utf-8-sig", newline="")):
            for name in ("metricId", "metricName", "groupExternalId", "groupName"):
                row[name] = row[name].removeprefix("'")
            row["groupId"] = int(row["groupId"])
            row["monday"] = date.fromisoformat(row["monday"])
            row["value"] = float(row["value"]) if row["value"] else None
            row["answers"] = int(row["answers"]) if row["answers"] else None
            yield row


# The six endpoints.


def get(path, **parameters):
    with ask(path, **parameters) as response:
        return json.load(response)


def monday(week):
    """The Monday of a week that is written YYWW."""
    return date.fromisocalendar(2000 + int(week[:2]), int(week[2:]), 1)


groups = get("/v1/groups")
kpis = get("/v1/kpis")

# A top-level group with all its subgroups. Together these are the whole account.
below_top = {id for group in groups for id in group["subgroups"]}
scopes = [
    {"groupId": group["id"], "includeSubgroups": "true", **PERIOD}
    for group in groups
    if group["id"] not in below_top
]

kpi_values = [
    {"kpi": kpi["name"], "groupId": one["groupId"], "monday": date.fromisoformat(one["date"]), "value": one["value"]}
    for kpi in kpis
    for scope in scopes
    for one in get(f"/v1/kpis/{quote(kpi['id'], safe='')}/values", **scope)["values"]
]

response_rates = [
    {"groupId": one["groupId"], "monday": date.fromisoformat(one["date"]), "value": one["value"]}
    for scope in scopes
    for one in get("/v1/responserates/values", **scope)[0]["values"]
]

results = [
    {"questionId": int(question), "groupId": int(group), "monday": monday(week), **data}
    for scope in scopes
    for question, by_group in get("/v1/results", **scope)[0]["values"][0].items()
    for group, by_week in by_group.items()
    for week, data in by_week.items()
]

asked_questions = [
    {"groupId": int(group), "monday": monday(week), "questionIds": ids}
    for scope in scopes
    for group, by_week in get("/v1/askedquestions", **scope)[0]["askedquestions"][0].items()
    for week, ids in by_week.items()
]


# Prints the results.

rows = list(feed(**PERIOD))
print("feed:", len(rows), "rows,", sum(row["status"] == "shown" for row in rows), "shown")
print("groups:", len(groups))
print("KPIs:", len(kpis))
print("KPI values:", len(kpi_values))
print("response rates:", len(response_rates))
print("results:", len(results))
print("asked questions:", len(asked_questions))
for row in rows:
    if row["metric"] == "kpi" and row["status"] == "shown":
        print(f"{row['metricName']}, {row['groupName']}, {row['week']}: {row['value']:.3f}")
