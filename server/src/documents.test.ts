// Documents that are written from the code say what the code says.
import { describe, expect, test } from 'vitest';
import { documents, writtenDocument } from './testing/documents.ts';

describe('docs/', () => {
  for (const [name, text] of Object.entries(documents)) {
    test(`${name} is as the code has it (npm run fix writes it)`, () => {
      expect(writtenDocument(name)).toBe(text);
    });
  }
});
