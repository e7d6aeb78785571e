// How a person is called: by name, else by what else is known.
type Named = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  externalId: string | null;
};

export const nameOf = ({ id, firstName, lastName, email, externalId }: Named): string =>
  `${firstName} ${lastName}`.trim() || email || externalId || `#${id}`;
