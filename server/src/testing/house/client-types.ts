// Generates the types of the published client (client/src/api-types.ts) from the OpenAPI documents. Run it as a program to write them. A
// test fails if they are out of date.
import { openApiDocument } from '@soundings/contract/openapi.ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { readFileSync, writeFileSync } from 'node:fs';

const written = new URL('../../../../client/src/api-types.ts', import.meta.url);
/** The interfaces that the client speaks. SCIM is for directories, which have clients of their own. */
const interfaces = ['data', 'organization', 'upload', 'audit'] as const;

const head = `// The requests and responses of the interfaces, as types. Generated from the OpenAPI documents by \`npm run fix\`.

`;

/** Returns the types of all four interfaces as one document. */
export async function clientTypes(): Promise<string> {
  const documents = interfaces.map((name) => openApiDocument(name, 'https://soundings.example.org'));
  const joined = { ...documents[0], paths: {}, components: { schemas: {} } };
  for (const document of documents) {
    Object.assign(joined.paths, document['paths']);
    Object.assign(joined.components.schemas, (document['components'] as { schemas: object }).schemas);
  }
  // Fields with a default are optional in requests, which is where the client uses them.
  return head + astToString(await openapiTS(JSON.stringify(joined), { defaultNonNullable: false }));
}

/** Returns the types as they are in the client. */
export const writtenClientTypes = (): string => readFileSync(written, 'utf8');

if (import.meta.main) writeFileSync(written, await clientTypes());
