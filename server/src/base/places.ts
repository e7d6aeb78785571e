// Where the service's own files are. The service runs from its sources (`npm run dev`, tests) or, faster, from the build in
// server/dist (`npm run build -w server`). In both cases texts, styles and migrations are read beside the sources.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const isBuilt = !import.meta.url.endsWith('/src/base/places.ts');
const sources = new URL(isBuilt ? '../src/' : '../', import.meta.url);
let build = isBuilt ? new URL('.', import.meta.url) : undefined;

/** The folder that contains the service, the console and their packages. */
export const projectFolder: string = fileURLToPath(new URL('../../', sources));

/** The folder that `npm run build -w server` writes to. */
export const buildFolder: URL = new URL('../dist/', sources);

/** For a service that runs from its sources: takes its threads and child processes from the build, where they start faster. */
export function useBuild(): void {
  build = buildFolder;
}

/** The folder of the code of threads and child processes. */
export const codeFolder = (): URL => build ?? sources;

/** Returns the address of a file or folder beside the sources that is not code. `path`: relative to server/src. */
export const assetAt = (path: string): URL => new URL(path, sources);

/**
 * Returns the address of a module that runs as a thread or process. `path`: relative to server/src, without the extension. Each of these
 * modules is an entry of the build (server/build.js).
 */
export const moduleAt = (path: string): URL =>
  build ? new URL(`${basename(path)}.js`, build) : new URL(`${path}.ts`, sources);
