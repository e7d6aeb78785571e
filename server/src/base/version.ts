// The version of the service, from package.json.
import { readFileSync } from 'node:fs';
import { assetAt } from './places.ts';

const { version } = JSON.parse(readFileSync(assetAt('../package.json'), 'utf8')) as {
  version: string;
};

export { version };
