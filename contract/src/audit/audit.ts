// The read-only audit interface: the audit log of an account, as a chain that shows when an entry was changed or removed.
import { Type, type Static } from 'typebox';
import type { Operation } from '../operation.ts';

const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description });

/** One entry. The content of the chain: names of people and of other things are not part of it, because they can change. */
export const AuditRecord = Type.Object(
  {
    accountId: Type.Integer(),
    position: Type.Integer({
      minimum: 1,
      description:
        'The position in the chain: 1, 2, 3 and so on, without gaps. Pass the last one as `after` to continue.',
    }),
    previous: hash('The hash of the entry before it; 64 zeros for the first entry.'),
    id: Type.Integer({
      description: 'The number of the entry in the console. Numbers can have gaps and be out of order.',
    }),
    at: Type.String({
      format: 'date-time',
      description: 'When the action began, in UTC. Not always ascending, because actions take time.',
    }),
    origin: Type.Enum(['console', 'command', 'api', 'file', 'service'], {
      description: 'How the action was performed.',
    }),
    userId: orNull(Type.Integer(), 'The ID of the user. It stays after the person is removed.'),
    tokenId: orNull(Type.Integer(), 'The ID of the API token.'),
    address: orNull(Type.String(), 'The IP address.'),
    action: Type.String({
      description: 'The action, such as `token created`. Later versions can have more.',
    }),
    subject: orNull(Type.String(), 'What the action applied to: an ID, or a name that identifies no person.'),
    details: Type.Record(Type.String(), Type.Unknown(), { description: 'Other facts, different by action.' }),
    hash: hash('SHA-256 (hexadecimal) of all other fields as canonical JSON (RFC 8785).'),
  },
  { title: 'AuditRecord' },
);
export type AuditRecord = Static<typeof AuditRecord>;

/** How many entries a response has, by default and at most. */
export const auditEntries = { standard: 1000, maximum: 10_000 };

export const getAudit = {
  interface: 'audit',
  method: 'GET',
  path: '/v1/audit',
  operationId: 'getAudit',
  summary: 'Read the audit log',
  description:
    'Returns the entries after a position, oldest first, one JSON object per line. An empty response means that there are no new ' +
    'entries yet. Each entry contains the hash of the one before it. Keep the position and hash of the last entry that you have ' +
    'read, and send both the next time: then the response also proves that no earlier entry has been changed or removed since.',
  scope: 'audit',
  query: Type.Object(
    {
      after: Type.Optional(
        Type.String({
          pattern: '^\\d{1,15}$',
          description: 'The position of the last entry that you have read. Default: 0, from the beginning.',
        }),
      ),
      hash: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'The hash of the entry at `after`, 64 hexadecimal digits in lower case.',
        }),
      ),
      limit: Type.Optional(
        Type.String({
          pattern: '^([1-9]\\d{0,3}|10000)$',
          description: `The maximum number of entries, 1 to ${auditEntries.maximum}. Default: ${auditEntries.standard}.`,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  response: AuditRecord,
  contentTypes: ['application/x-ndjson'],
  errors: {
    400: 'A query parameter is unknown, repeated or invalid.',
    401: 'The token is missing, unknown, expired or revoked.',
    403: 'The token lacks the `audit` scope.',
    409: 'The log does not contain the entry at `after` with this hash: entries were changed or removed, or an older backup was restored.',
    429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
    503: 'The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds.',
  },
} satisfies Operation;

export const auditOperations: Operation[] = [getAudit];
