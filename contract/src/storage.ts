// The upload interface (§2.3, §4.3): its operations and the report of a file.
import { Type, type Static } from 'typebox';
import { NoParameters } from './data.ts';
import type { Operation } from './operation.ts';
import { Change, Summary } from './organization.ts';
import { Detail } from './problem.ts';

export const fileOutcomes = [
  'waiting',
  'processing',
  'validated',
  'applied',
  'refused',
  'pending',
  'failed',
] as const;

/** Whether a file is still waiting or processing. Callers should poll again. */
export const isUnderWay = (outcome: (typeof fileOutcomes)[number]): boolean =>
  outcome === 'waiting' || outcome === 'processing';

/** The report of a file. It is not part of the original interface description. */
export const FileReport = Type.Object(
  {
    file: Type.String({ description: 'The name of the file.' }),
    receivedAt: Type.String({ format: 'date-time', description: 'When the upload was complete.' }),
    outcome: Type.Enum(fileOutcomes, {
      description:
        'waiting: not processed yet. processing: being processed now. applied: the changes were made. validated: the file is ' +
        'valid, but the account only validates files. refused: the file has errors or the upload was rejected; nothing was ' +
        'applied. pending: the file would exceed a change limit; nothing is applied until an administrator approves it. failed: ' +
        'the file could not be processed.',
    }),
    place: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'For a waiting file: its position in the account’s queue. 1 is processed next.',
      }),
    ),
    message: Type.String({ description: 'The result in one sentence, for the sender.' }),
    runId: Type.Optional(Type.String({ description: 'The ID of the run that the file started.' })),
    summary: Type.Optional(Summary),
    changes: Type.Optional(Type.Array(Change)),
    details: Type.Array(Detail, { description: 'All errors, each with its sheet, row, column and value.' }),
    warnings: Type.Array(Detail, { description: 'Issues that did not stop the file.' }),
  },
  { title: 'FileReport' },
);
export type FileReport = Static<typeof FileReport>;

const invalidToken =
  'With an empty text/plain body: the token is invalid, or the IP address is not allowed to upload.';
const errors = {
  403: 'The token lacks the `files` scope.',
  429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
  503: 'The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds.',
};

export const uploadFile = {
  interface: 'upload',
  method: 'POST',
  path: '/v1/storage/uploadFile',
  operationId: 'uploadFile',
  summary: 'Upload a file',
  description:
    'Uploads one file (CSV, XLS or XLSX, at most 10 MB) as a form field, and returns its name: the last part of the name ' +
    'that was sent. A file with the same name is replaced. The users and groups in the file are then processed like an ' +
    'organization request. The result is in the report of the file.',
  scope: 'files',
  query: NoParameters,
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        contentMediaType: 'application/octet-stream',
        description: 'The file. The field can have any name. Fields that are not files are ignored.',
      }),
    },
    { title: 'Upload' },
  ),
  bodyType: 'multipart/form-data',
  response: Type.String({ description: 'The name under which the file is stored.' }),
  contentTypes: ['text/plain'],
  errors: {
    400:
      `${invalidToken} With the error body: no file, more than one file, or a file with an invalid name, type or size ` +
      '(details of type `file validation`). Nothing is stored.',
    ...errors,
    415: 'The content type is not multipart/form-data, or the body is compressed.',
  },
} satisfies Operation;

export const listFiles = {
  interface: 'upload',
  method: 'GET',
  path: '/v1/storage/files',
  operationId: 'listFiles',
  summary: 'List the files',
  description: 'Returns the names of all stored files in ascending order.',
  scope: 'files',
  query: NoParameters,
  response: Type.Array(Type.String()),
  errors: { 400: `${invalidToken} With the error body: an unknown query parameter.`, ...errors },
} satisfies Operation;

export const getFileReport = {
  interface: 'upload',
  method: 'GET',
  path: '/v1/storage/files/{name}/report',
  operationId: 'getFileReport',
  summary: 'Get the report of a file',
  description:
    'Returns the report of the last file with this name. This operation is not part of the original interface description.',
  scope: 'files',
  params: Type.Object({
    name: Type.String({ description: 'The name of the file, as returned by the upload.' }),
  }),
  query: NoParameters,
  response: FileReport,
  errors: {
    400: `${invalidToken} With the error body: an unknown query parameter.`,
    ...errors,
    404: 'The account has no file with this name.',
  },
} satisfies Operation;

export const uploadOperations: Operation[] = [uploadFile, listFiles, getFileReport];
