// Documents that are generated from the code are up to date.
import { describe, expect, test } from 'vitest';
import { documents, writtenDocument } from './testing/house/documents.ts';

describe('docs/', () => {
  for (const [name, text] of Object.entries(documents)) {
    test(`${name} is up to date (npm run fix writes it)`, () => {
      expect(writtenDocument(name)).toBe(text);
    });
  }
});
