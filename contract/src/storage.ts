// Interface C, file upload and listing (§2.3, §4.3): its operations, and what is told of a file.
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
  'held',
  'failed',
] as const;

/** Whether a file has no end yet: ask again. */
export const isUnderWay = (outcome: (typeof fileOutcomes)[number]): boolean =>
  outcome === 'waiting' || outcome === 'processing';

/** What is told of a file: additive, not in the description. */
export const FileReport = Type.Object(
  {
    file: Type.String({ description: 'The name of the file.' }),
    receivedAt: Type.String({ format: 'date-time', description: 'When it had arrived, whole.' }),
    outcome: Type.Enum(fileOutcomes, {
      description:
        'waiting: not processed yet. processing: being processed now. applied: the organization matches it. validated: it would have been applied, but ' +
        'the account only validates. refused: it has faults, or its upload was refused; nothing was applied. held: it would change more than a ' +
        'limit allows; nothing is applied until somebody approves it. failed: it could not be processed.',
    }),
    place: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Of a waiting file: its place in the queue of the account. 1 is processed next.',
      }),
    ),
    message: Type.String({ description: 'What came of it, in words for whoever sent it.' }),
    runId: Type.Optional(Type.String({ description: 'The run that came of it.' })),
    summary: Type.Optional(Summary),
    changes: Type.Optional(Type.Array(Change)),
    details: Type.Array(Detail, { description: 'Each fault, with its sheet, row, column and value.' }),
    warnings: Type.Array(Detail, { description: 'What was noticed and stops nothing.' }),
  },
  { title: 'FileReport' },
);
export type FileReport = Static<typeof FileReport>;

const invalidToken = 'Without a body, as text/plain: an invalid token, or an address that may not upload.';
const errors = {
  403: 'The token lacks the scope `files`.',
  429: 'Too many requests of this token: try again after `Retry-After` seconds.',
  503: 'Starting, stopping, or without a database: try again after `Retry-After` seconds.',
};

export const uploadFile = {
  interface: 'upload',
  method: 'POST',
  path: '/v1/storage/uploadFile',
  operationId: 'uploadFile',
  summary: 'Upload a file',
  description:
    'Takes one file (CSV, XLS or XLSX, at most 10 MB) as a form sends it, and answers with its name: the last part of ' +
    'the name that was sent. A file of the same name is replaced. Its users and groups are then read and applied as an ' +
    'organization request would be; what came of it is in the report.',
  scope: 'files',
  query: NoParameters,
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        contentMediaType: 'application/octet-stream',
        description:
          'The file. The name of the field may be another one; fields that are no files are ignored.',
      }),
    },
    { title: 'Upload' },
  ),
  bodyType: 'multipart/form-data',
  response: Type.String({ description: 'The name under which the file is kept.' }),
  contentTypes: ['text/plain'],
  errors: {
    400:
      `${invalidToken} With the error body: no file or more than one, or one of a wrong name, type or size (details of ` +
      'the type `file validation`). Nothing is kept.',
    ...errors,
    415: 'The content type is missing or is not multipart/form-data, or the body is compressed.',
  },
} satisfies Operation;

export const listFiles = {
  interface: 'upload',
  method: 'GET',
  path: '/v1/storage/files',
  operationId: 'listFiles',
  summary: 'List the files',
  description: 'The names of all files in the file area, ascending.',
  scope: 'files',
  query: NoParameters,
  response: Type.Array(Type.String()),
  errors: { 400: `${invalidToken} With the error body: a query parameter.`, ...errors },
} satisfies Operation;

export const getFileReport = {
  interface: 'upload',
  method: 'GET',
  path: '/v1/storage/files/{name}/report',
  operationId: 'getFileReport',
  summary: 'What came of a file',
  description: 'Beside the description: the report of the last file of that name.',
  scope: 'files',
  params: Type.Object({
    name: Type.String({ description: 'The name of the file, as the upload answered it.' }),
  }),
  query: NoParameters,
  response: FileReport,
  errors: {
    400: `${invalidToken} With the error body: a query parameter.`,
    ...errors,
    404: 'There is no such file.',
  },
} satisfies Operation;

export const uploadOperations: Operation[] = [uploadFile, listFiles, getFileReport];
