// Whether people can sign in, as lists of people are filtered. Imports no schemas, so that browsers don't load the schema package.

export const signInStates = ['password', 'invited', 'uninvited'] as const;
export type SignInState = (typeof signInStates)[number];
