// The page at /docs/errors: every type of error, and an example of each one that the interfaces have.
import { detailTypes } from '@soundings/contract/problem.ts';
import { escaped } from '../../base/html.ts';
import type { ErrorExample, Examples } from './examples.ts';

export const errorsPage = ({ errors }: Examples): string => {
  const all = Object.entries(detailTypes);
  const shown = all.filter(([type]) => errors[type]);
  const others = all.filter(([type]) => !errors[type]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors - Soundings API</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<header><b>Soundings</b><nav aria-label="Documents"><a href="/docs">API reference</a></nav></header>
<main>
<h1>Errors</h1>
<p class="lead">Every error response has the body <code>{ id, message, details }</code>. The types below are those of its details, and of the
warnings in reports. SCIM has its own body. The examples are real responses.</p>
<section>
<h2>Errors of the interfaces</h2>
<p>${shown.map(([type]) => `<a href="#${anchorOf(type)}">${escaped(type)}</a>`).join(' · ')}</p>
${shown.map(([type, meaning]) => articleOf(type, meaning, errors[type] as ErrorExample)).join('\n')}
</section>
<section>
<h2>Errors of the console and the command</h2>
<div class="scroll"><table><thead><tr><th>Type</th><th>Meaning</th></tr></thead><tbody>
${others.map(([type, meaning]) => `<tr><td><code>${escaped(type)}</code></td><td>${prose(meaning)}</td></tr>`).join('\n')}
</tbody></table></div>
</section>
</main>
</body>
</html>
`;
};

const anchorOf = (type: string) => escaped(type.replaceAll(' ', '-'));
const prose = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

function articleOf(type: string, meaning: string, { note, request, response }: ErrorExample): string {
  const [about = '', ...file] = (note ?? '').split('\n\n');
  return `<article id="${anchorOf(type)}">
<h3><code>${escaped(type)}</code></h3>
<p>${prose(meaning)}${about === '' ? '' : ` <i>${prose(about)}</i>`}</p>
${file.map((text) => `<pre>${escaped(text.trim())}</pre>`).join('')}
${request ? `<pre>${escaped(requestText(request))}</pre>` : ''}
<pre>${response.status}\n${escaped(bodyText(response.body))}</pre>
</article>`;
}

function requestText({
  method,
  path,
  headers = {},
  body,
  file,
}: NonNullable<ErrorExample['request']>): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const content = body === undefined ? file && `file: ${file.name}` : bodyText(body);
  return [`${method} ${path}`, ...fields, ...(content === undefined ? [] : [content])].join('\n');
}

/** Returns a body as text: JSON in several lines, but entries of short lists in one. */
const bodyText = (body: unknown): string =>
  body === undefined
    ? ''
    : typeof body === 'string'
      ? body
      : JSON.stringify(body, null, 2).replace(
          /\{\s+([^{}[\]]{1,100}?)\s+\}/g,
          (_, inside: string) => `{ ${inside.replace(/\s*\n\s*/g, ' ')} }`,
        );
