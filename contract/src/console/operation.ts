// Describes the operations of the console. The server checks requests against these descriptions; the browser uses only the
// types.
import type { Static, TSchema } from 'typebox';
import type { Role } from '../people/roles.ts';

/** Who may call an operation: anyone, or users who are signed in with at least this role. */
export type MinimumRole = 'anyone' | Role;

export type ConsoleOperation<
  Query extends TSchema | undefined = TSchema | undefined,
  Body extends TSchema | 'bytes' | undefined = TSchema | 'bytes' | undefined,
  Result = unknown,
> = {
  minimumRole: MinimumRole;
  /** Whether the operation requires the password again if it was not given within the last ten minutes. */
  proof: boolean;
  /** The query parameters: an object schema of strings without additional properties. Undefined: there are none. */
  query: Query;
  /** The request body: JSON that matches this object schema, or raw bytes. */
  body: Body;
  /** Never set: it only carries the type of the response. */
  response?: Result;
};

type Described<Query, Body> = { minimumRole: MinimumRole; proof?: boolean; query?: Query; body?: Body };

/** Describes an operation: `operation<Result>()({ minimumRole, proof, query, body })`. */
export const operation =
  <Result = void>() =>
  <
    const Query extends TSchema | undefined = undefined,
    const Body extends TSchema | 'bytes' | undefined = undefined,
  >({
    minimumRole,
    proof = false,
    query,
    body,
  }: Described<Query, Body>): ConsoleOperation<Query, Body, Result> =>
    ({ minimumRole, proof, query, body }) as ConsoleOperation<Query, Body, Result>;

export type ResultOf<O> =
  O extends ConsoleOperation<infer _Query, infer _Body, infer Result> ? Result : never;

/** The query parameters, each as text. */
export type QueryOf<O> =
  O extends ConsoleOperation<infer Query, infer _Body, infer _Result>
    ? Query extends TSchema
      ? Static<Query>
      : Record<never, string>
    : never;

export type BodyOf<O> =
  O extends ConsoleOperation<infer _Query, infer Body, infer _Result>
    ? Body extends TSchema
      ? Static<Body>
      : undefined
    : never;

/** The path parameters of an operation: `{ userId: string }` for `GET /users/{userId}`. */
export type ParamsOf<Name extends string> = Name extends `${string}{${infer Param}}${infer Rest}`
  ? { [Key in Param]: string } & ParamsOf<Rest>
  : unknown;
