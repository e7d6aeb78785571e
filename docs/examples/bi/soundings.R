# Reads the data interface of Soundings with R. The feed needs R alone; the six endpoints need jsonlite.

address <- Sys.getenv("SOUNDINGS_URL")
token <- Sys.getenv("SOUNDINGS_TOKEN")
period <- list(fromDate = "2025-01-01", toDate = format(Sys.Date()))

# The lines of a response, read as UTF-8.
ask <- function(path, parameters = list()) {
  values <- vapply(parameters, function(value) URLencode(as.character(value), reserved = TRUE), "")
  query <- paste(names(parameters), values, sep = "=", collapse = "&")
  connection <- url(paste0(address, path, "?", query), headers = c(Authorization = token), method = "libcurl")
  on.exit(close(connection))
  readLines(connection, warn = FALSE, encoding = "UTF-8")
}

# The feed: one row for each group, week and metric.

feed <- function(parameters = list()) {
  lines <- ask("/v1/feed", parameters)
  lines[1] <- sub("^\ufeff", "", lines[1])
  texts <- c("metricId", "metricName", "groupExternalId", "groupName")
  types <- c(groupId = "integer", monday = "Date", value = "numeric", answers = "integer")
  types[c(texts, "metric", "week", "status")] <- "character"
  rows <- read.csv(text = lines, colClasses = types, na.strings = character(), encoding = "UTF-8")
  rows[texts] <- lapply(rows[texts], function(text) sub("^'", "", text))
  rows
}

rows <- feed(period)
cat("feed:", nrow(rows), "rows,", sum(rows$status == "shown"), "shown\n")

# The six endpoints.

if (requireNamespace("jsonlite", quietly = TRUE)) {
  get_json <- function(path, parameters = list()) {
    jsonlite::fromJSON(paste(ask(path, parameters), collapse = "\n"), simplifyVector = FALSE)
  }

  # The Monday of a week written as YYWW. The first week contains January 4th.
  monday <- function(week) {
    fourth <- as.Date(paste0("20", substr(week, 1, 2), "-01-04"))
    fourth - (as.integer(format(fourth, "%u")) - 1) + 7 * (as.integer(substr(week, 3, 4)) - 1)
  }

  # Applies a function to each element and combines the results into one list; turns such rows into a data frame.
  each <- function(parts, make) do.call(c, lapply(parts, make))
  table_of <- function(rows) do.call(rbind, lapply(rows, as.data.frame))
  or_na <- function(value) if (is.null(value)) NA else value

  groups <- get_json("/v1/groups")
  kpis <- get_json("/v1/kpis")

  # A top-level group with all its subgroups. Together these are the whole account.
  below_top <- unlist(lapply(groups, function(group) group$subgroups))
  tops <- Filter(function(group) !(group$id %in% below_top), groups)
  scopes <- lapply(tops, function(group) c(groupId = group$id, includeSubgroups = "true", period))

  kpi_values <- table_of(each(kpis, function(kpi) each(scopes, function(scope) {
    path <- paste0("/v1/kpis/", URLencode(kpi$id, reserved = TRUE), "/values")
    lapply(get_json(path, scope)$values, function(one) {
      list(kpi = kpi$name, groupId = one$groupId, monday = as.Date(one$date), value = or_na(one$value))
    })
  })))

  response_rates <- table_of(each(scopes, function(scope) {
    lapply(get_json("/v1/responserates/values", scope)[[1]]$values, function(one) {
      list(groupId = one$groupId, monday = as.Date(one$date), value = or_na(one$value))
    })
  }))

  results <- table_of(each(scopes, function(scope) {
    questions <- get_json("/v1/results", scope)[[1]]$values[[1]]
    each(names(questions), function(question) each(names(questions[[question]]), function(group) {
      weeks <- questions[[question]][[group]]
      lapply(names(weeks), function(week) {
        one <- weeks[[week]]
        list(
          questionId = as.integer(question), groupId = as.integer(group), monday = monday(week),
          value = or_na(one$value), answers = or_na(one$answers)
        )
      })
    }))
  }))

  asked_questions <- table_of(each(scopes, function(scope) {
    asked <- get_json("/v1/askedquestions", scope)[[1]]$askedquestions[[1]]
    each(names(asked), function(group) lapply(names(asked[[group]]), function(week) {
      ids <- paste(asked[[group]][[week]], collapse = " ")
      list(groupId = as.integer(group), monday = monday(week), questionIds = ids)
    }))
  }))

  cat("groups:", length(groups), "\n")
  cat("KPIs:", length(kpis), "\n")
  cat("KPI values:", nrow(kpi_values), "\n")
  cat("response rates:", nrow(response_rates), "\n")
  cat("results:", nrow(results), "\n")
  cat("asked questions:", nrow(asked_questions), "\n")
}

shown <- rows[rows$metric == "kpi" & rows$status == "shown", ]
cat(sprintf("%s, %s, %s: %.3f\n", shown$metricName, shown$groupName, shown$week, shown$value), sep = "")
