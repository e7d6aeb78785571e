// How an operation of the console is described: once, for the server, which checks what comes, and for the browser, which
// takes the types alone.
import type { Static, TSchema } from 'typebox';
import type { Role } from './organization.ts';

/** Who may: anybody, or whoever is signed in with at least this role. */
export type Least = 'anybody' | Role;

export type ConsoleOperation<
  Query extends TSchema | undefined = TSchema | undefined,
  Body extends TSchema | 'bytes' | undefined = TSchema | 'bytes' | undefined,
  Answer = unknown,
> = {
  least: Least;
  /** Whether it asks for the password again, where that was not given within the last ten minutes. */
  proof: boolean;
  /** The parameters of the address: an object schema of texts that allows nothing else. None: it takes none. */
  query: Query;
  /** What is sent: JSON of this object schema, or bytes as they are. */
  body: Body;
  /** Never there: it carries the type of what is answered. */
  answer?: Answer;
};

type Described<Query, Body> = { least: Least; proof?: boolean; query?: Query; body?: Body };

/** Describes an operation: `operation<Answer>()({ least, proof, query, body })`. */
export const operation =
  <Answer = void>() =>
  <
    const Query extends TSchema | undefined = undefined,
    const Body extends TSchema | 'bytes' | undefined = undefined,
  >({
    least,
    proof = false,
    query,
    body,
  }: Described<Query, Body>): ConsoleOperation<Query, Body, Answer> =>
    ({ least, proof, query, body }) as ConsoleOperation<Query, Body, Answer>;

export type AnswerOf<O> =
  O extends ConsoleOperation<infer _Query, infer _Body, infer Answer> ? Answer : never;

/** The parameters, each as text. */
export type QueryOf<O> =
  O extends ConsoleOperation<infer Query, infer _Body, infer _Answer>
    ? Query extends TSchema
      ? Static<Query>
      : Record<never, string>
    : never;

export type BodyOf<O> =
  O extends ConsoleOperation<infer _Query, infer Body, infer _Answer>
    ? Body extends TSchema
      ? Static<Body>
      : undefined
    : never;

/** The parts of an address in braces: of `GET /users/{userId}` they are `{ userId: string }`. */
export type ParamsOf<Name extends string> = Name extends `${string}{${infer Param}}${infer Rest}`
  ? { [Key in Param]: string } & ParamsOf<Rest>
  : unknown;
