// Records the examples of errors: sends each request, and sees that the response has the error that the example is for.
import type { Operation } from '@soundings/contract/operation.ts';
import type { Detail, DetailType, Problem } from '@soundings/contract/problem.ts';
import { type FileReport, getFileReport, isUnderWay, uploadFile } from '@soundings/contract/storage.ts';
import type { ErrorExample, ExampleResponse } from '../../http/reference/examples.ts';
import { until } from '../until.ts';
import type { ErrorScene } from './error-scenes.ts';
import type { FileScene } from './file-scenes.ts';
import { pathOf, type Recorder, sendTo, shortResponse, shownRequest } from './recorder.ts';

type Body = Partial<Problem> & { warnings?: { type: string }[]; schemas?: string[] };

/** Sends a request to the service and records its error, with a token if the scene has none. */
export async function recordError(
  { errors }: Recorder,
  address: string,
  token: string | undefined,
  { type, at, params, search = '', sent = {}, isHidden = false, note }: ErrorScene,
): Promise<void> {
  const path = `${pathOf(at, params)}${search}`;
  const bodyType = path.startsWith('/scim/') ? 'application/scim+json' : 'application/json';
  const response = await sendTo(address, at.method, path, { token, bodyType, ...sent });
  errors[type] = errorOf(type, response, {
    ...('operationId' in at && { operationId: (at as Operation).operationId }),
    ...(note !== undefined && { note }),
    ...(!isHidden && { request: shownRequest(at.method, path, sent) }),
  });
}

/** Returns the example of an error or warning. Throws if the response is another one. */
export function errorOf(
  type: DetailType,
  response: ExampleResponse,
  about: Omit<ErrorExample, 'response'>,
): ErrorExample {
  const { details = [], warnings = [], schemas } = (response.body ?? {}) as Body;
  const isScim = schemas !== undefined;
  const isFound = [...details, ...warnings].some((one) => one.type === type);
  // Requests to upload that have no valid token get no body (§7), and SCIM has its own kinds.
  if (!isFound && !(isScim && response.status >= 400))
    throw new Error(`${type} is not in ${response.status} ${JSON.stringify(response.body)}`);
  return { ...about, response: shortResponse(onlyOf(type, response)) };
}

/** Leaves only the last of very many details: it says how many more there are. */
function onlyOf(type: DetailType, response: ExampleResponse): ExampleResponse {
  if (type !== 'more') return response;
  const { details, ...body } = response.body as { details: Detail[] };
  return { ...response, body: { ...body, details: details.slice(-1) } };
}

/** Uploads a file and records its report, as the report of the file. */
export async function recordFile(
  { errors }: Recorder,
  address: string,
  token: string,
  { type, name, text, note }: Pick<FileScene, 'type' | 'name' | 'note'> & { text: string | Uint8Array },
): Promise<void> {
  const uploaded = await sendTo(address, 'POST', uploadFile.path, { token, file: { name, text } });
  if (uploaded.status !== 200) throw new Error(`${type}: ${JSON.stringify(uploaded)}`);
  const path = pathOf(getFileReport, { name });
  const response = await until(async () => {
    const report = await sendTo(address, 'GET', path, { token });
    return !isUnderWay((report.body as FileReport).outcome) && report;
  });
  const shown = typeof text === 'string' ? ` The file:\n\n${text}` : '';
  errors[type] = errorOf(type, response, {
    operationId: getFileReport.operationId,
    note: `${note ?? ''}${shown}`.trim(),
    request: { method: 'GET', path },
  });
}
