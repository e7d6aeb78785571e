// Weeks, periods and numbers: the client has one form of each, although the interfaces have several.

/** Days as YYYY-MM-DD, both included. Every week with a day in the period counts. */
export type Period = { from: string; to: string };

export type GroupFilter = {
  /** The ID of a group or segment. */
  group: number;
  /** Whether to include all subgroups. Default: false. */
  subgroups?: boolean;
  /** Which weeks. Default: the latest values; for results and questions, the last five weeks. */
  period?: Period;
};

/** Returns the parameters of a filter. */
export const parametersOf = ({ group, subgroups = false, period }: GroupFilter) => ({
  groupId: String(group),
  includeSubgroups: subgroups ? 'true' : undefined,
  ...periodParameters(period),
});

export const periodParameters = (period: Period | undefined) => ({
  fromDate: period?.from,
  toDate: period?.to,
});

/** Returns an ISO week such as 2026-W47. `digits`: 202647 or 2647. */
export const weekOfDigits = (digits: string): string =>
  `${digits.length === 4 ? `20${digits.slice(0, 2)}` : digits.slice(0, 4)}-W${digits.slice(-2)}`;

/** A map by question, group and week becomes rows. */
export type Nested<T> = Record<string, Record<string, Record<string, T>>>;
export type Row<T> = { questionId: number; groupId: number; week: string; value: T };

/** Returns each value of a map by question, group and week. */
export const rowsOfNested = <T>(nested: Nested<T>): Row<T>[] =>
  Object.entries(nested).flatMap(([question, groups]) =>
    Object.entries(groups).flatMap(([group, weeks]) =>
      Object.entries(weeks).map(([week, value]) => ({
        questionId: Number(question),
        groupId: Number(group),
        week: weekOfDigits(week),
        value,
      })),
    ),
  );
