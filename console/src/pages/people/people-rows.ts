// The rows of the form for several people. Fields are named like the paths of the service's errors, so that each error is shown at its field.

type Row = { firstName: string; lastName: string; email: string; groupId: number | undefined };
type Place = 0 | 1 | 2 | 3 | 4;
export type PeopleRows = { [Key in `people/${Place}/${'firstName' | 'lastName' | 'email'}`]: string } & {
  [Key in `people/${Place}/groupId`]: number | undefined;
};

const places: readonly Place[] = [0, 1, 2, 3, 4];

/** The names of the fields of each row. */
export const rowKeys = places.map((place) => ({
  firstName: `people/${place}/firstName` as const,
  lastName: `people/${place}/lastName` as const,
  email: `people/${place}/email` as const,
  groupId: `people/${place}/groupId` as const,
}));

export const emptyRows = Object.fromEntries(
  rowKeys.flatMap(({ firstName, lastName, email, groupId }) => [
    [firstName, ''],
    [lastName, ''],
    [email, ''],
    [groupId, undefined],
  ]),
) as PeopleRows;

/** Returns the rows for the service. Null: nothing but perhaps a group is entered. */
export const peopleOfRows = (values: PeopleRows) =>
  rowKeys.map((keys) => {
    const row: Row = {
      firstName: values[keys.firstName].trim(),
      lastName: values[keys.lastName].trim(),
      email: values[keys.email].trim(),
      groupId: values[keys.groupId],
    };
    const isEmpty = row.firstName === '' && row.lastName === '' && row.email === '';
    return isEmpty ? null : { ...row, email: row.email || null, groupId: row.groupId ?? null };
  });
