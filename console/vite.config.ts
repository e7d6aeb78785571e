// Builds the console into dist/: hashed files, compressed with gzip and brotli, next to the uncompressed ones, for the service to send.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import compile from 'icu-minify/compile';
import { defineConfig, type Plugin } from 'vite';

const packed = new Set(['.html', '.js', '.css', '.svg']);

/** Returns bytes compressed with brotli, as much as possible by default. */
const compressed = (bytes: Buffer, quality = 11): Buffer =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });

/** Compresses the written files as much as possible, once at build time instead of for each request. */
const pack = (): Plugin => ({
  name: 'pack',
  apply: 'build',
  writeBundle({ dir }) {
    for (const path of readdirSync(dir as string, { recursive: true, encoding: 'utf8' })) {
      if (!packed.has(extname(path))) continue;
      const bytes = readFileSync(join(dir as string, path));
      writeFileSync(join(dir as string, `${path}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(dir as string, `${path}.br`), compressed(bytes));
    }
  },
});

/**
 * Adds Scalar's API reference, which the service shows at /docs. Its package for Fastify contains the whole program as one file and serves
 * it; @scalar/api-reference would bring 345 MB of packages. Only compressed, because all browsers understand brotli. The highest quality would
 * save a tenth and take 25 seconds.
 */
const reference = (): Plugin => ({
  name: 'reference',
  apply: 'build',
  async writeBundle({ dir }) {
    // Loaded here, because the large program would delay the start of `npm run dev`.
    const { default: fastify } = await import('fastify');
    const { default: scalar } = await import('@scalar/fastify-api-reference');
    const app = fastify();
    await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/' } });
    const { rawPayload } = await app.inject('/reference/js/scalar.js');
    await app.close();
    const folder = join(dir as string, 'reference');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'scalar.js.br'), compressed(rawPayload, 9));
    const licence = new URL('../LICENSE', import.meta.resolve('@scalar/fastify-api-reference'));
    copyFileSync(fileURLToPath(licence), join(folder, 'LICENSE.scalar.txt'));
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
  plugins: [catalogues(), react(), pack(), reference()],
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
