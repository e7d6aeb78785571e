// Builds the console into dist/: hashed files, compressed with gzip and brotli, next to the uncompressed ones, for the service to send.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import compile from 'icu-minify/compile';
import { defineConfig, type Plugin } from 'vite';

const packed = new Set(['.html', '.js', '.css', '.svg']);

/** Compresses the written files as much as possible, once at build time instead of for each request. */
const pack = (): Plugin => ({
  name: 'pack',
  apply: 'build',
  writeBundle({ dir }) {
    for (const path of readdirSync(dir as string, { recursive: true, encoding: 'utf8' })) {
      if (!packed.has(extname(path))) continue;
      const bytes = readFileSync(join(dir as string, path));
      writeFileSync(join(dir as string, `${path}.gz`), gzipSync(bytes, { level: 9 }));
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      };
      writeFileSync(join(dir as string, `${path}.br`), brotliCompressSync(bytes, { params }));
    }
  },
});

/** Compiles the texts of the catalogues, so that no browser has to load the parser of ICU MessageFormat. */
const catalogues = (): Plugin => ({
  name: 'catalogues',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/src\/text\/\w+\/\w+\.json$/.test(id)) return undefined;
    const texts = Object.entries(JSON.parse(code) as Record<string, string>);
    return JSON.stringify(Object.fromEntries(texts.map(([key, text]) => [key, compile(text)])));
  },
});

export default defineConfig({
  root: import.meta.dirname,
  plugins: [catalogues(), react(), pack()],
  build: {
    target: 'es2023',
    // Nothing is put into a page as data: its policy lets in files of the service alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  logLevel: 'warn',
});
