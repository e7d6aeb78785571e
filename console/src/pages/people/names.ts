// The name to show for a person: the name, or else other known fields.
type Named = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  externalId: string | null;
};

export const personName = ({ id, firstName, lastName, email, externalId }: Named): string =>
  `${firstName} ${lastName}`.trim() || email || externalId || `#${id}`;
