// Programs that send a request, in the languages of integrators. Each is complete: it reads the token from the environment, prints the
// response, and ends with an error if the request fails.
import type { Example } from './examples.ts';

export type CodeSample = { lang: string; label: string; source: string };

/** What all languages need to know about a request. */
type Call = {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  /** The JSON body. */
  json: unknown;
  /** The name of the file that is uploaded. */
  file: string | undefined;
  response: 'json' | 'text' | 'none';
};

/** Returns a program in each language that sends the request of an example. `server`: the address that serves it, without a path. */
export function codeSamples({ request, response }: Example, server: string, bodyType?: string): CodeSample[] {
  const type = response.contentType;
  const hasJson = request.body !== undefined;
  const call: Call = {
    method: request.method,
    url: `${server}${request.path.replaceAll("'", '%27')}`,
    headers: [
      ...(hasJson ? ([['Content-Type', bodyType ?? 'application/json']] as [string, string][]) : []),
      ...Object.entries(request.headers ?? {}),
    ],
    json: request.body,
    file: request.file?.name,
    response: type === undefined ? 'none' : /[/+]json$/.test(type) ? 'json' : 'text',
  };
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: typeScript(call) },
    { lang: 'Python', label: 'Python', source: python(call) },
    { lang: 'C#', label: 'C#', source: cSharp(call) },
    { lang: 'Java', label: 'Java', source: java(call) },
    { lang: 'PowerShell', label: 'PowerShell', source: powerShell(call) },
  ];
}

const pretty = (json: unknown, margin = '') => JSON.stringify(json, null, 2).replaceAll('\n', `\n${margin}`);
/** Joins the parts of a program that are there. */
const lines = (...parts: (string | false | undefined)[]) =>
  parts.filter((part) => part !== false && part !== undefined).join('\n');

function curl({ method, url, headers, json, file, response }: Call): string {
  const options = [
    ...(['GET', 'POST'].includes(method) ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $SOUNDINGS_TOKEN"',
    ...headers.map(([name, value]) => `-H '${name}: ${value}'`),
    ...(json === undefined ? [] : [`--data '${pretty(json).replaceAll("'", String.raw`'\''`)}'`]),
    ...(file === undefined ? [] : [`-F file=@${file}`]),
  ];
  const silent = response === 'none' ? '--fail-with-body -sS -i' : '--fail-with-body -sS';
  return [`curl ${silent} '${url}'`, ...options].join(' \\\n  ');
}

function typeScript({ method, url, headers, json, file, response }: Call): string {
  const own = headers.map(([name, value]) => `    '${name}': '${value}',`);
  return lines(
    file !== undefined && "import { openAsBlob } from 'node:fs';",
    "import { env } from 'node:process';\n",
    file !== undefined && 'const form = new FormData();',
    file !== undefined && `form.set('file', await openAsBlob('${file}'), '${file}');`,
    `const response = await fetch('${url}', {`,
    method !== 'GET' && `  method: '${method}',`,
    '  headers: {',
    "    Authorization: `Bearer ${env['SOUNDINGS_TOKEN']}`,",
    ...own,
    '  },',
    json !== undefined && `  body: JSON.stringify(${pretty(json, '  ')}),`,
    file !== undefined && '  body: form,',
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    response === 'none' ? 'console.log(response.status);' : `console.log(await response.${response}());`,
  );
}

function python({ method, url, headers, json, file, response }: Call): string {
  const own = headers
    .filter(([name, value]) => name !== 'Content-Type' || value !== 'application/json')
    .map(([name, value]) => `        "${name}": "${value}",`);
  return lines(
    'import os\nimport requests\n',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'SOUNDINGS_TOKEN\']}",',
    ...own,
    '    },',
    json !== undefined && `    json=${pythonOf(json, '    ')},`,
    file !== undefined && `    files={"file": open("${file}", "rb")},`,
    '    timeout=60,',
    ')',
    'response.raise_for_status()',
    { json: 'print(response.json())', text: 'print(response.text)', none: 'print(response.status_code)' }[
      response
    ],
  );
}

/** Returns a JSON value as Python writes it. */
function pythonOf(value: unknown, margin: string): string {
  const inner = `${margin}    `;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((one) => pythonOf(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${pythonOf(one, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((one) => `${inner}${one},\n`).join('')}${margin}${close}`;
}

function cSharp({ method, url, headers, json, file, response }: Call): string {
  const [, type] = headers.find(([name]) => name === 'Content-Type') ?? [];
  return lines(
    'using System.Net.Http.Headers;\nusing System.Text;\n',
    'using var client = new HttpClient();',
    'var token = Environment.GetEnvironmentVariable("SOUNDINGS_TOKEN");',
    'client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);',
    `using var request = new HttpRequestMessage(new HttpMethod("${method}"), "${url}");`,
    json !== undefined &&
      `request.Content = new StringContent("""\n    ${pretty(json, '    ')}\n    """, Encoding.UTF8, "${type}");`,
    file !== undefined && 'var form = new MultipartFormDataContent();',
    file !== undefined && `form.Add(new StreamContent(File.OpenRead("${file}")), "file", "${file}");`,
    file !== undefined && 'request.Content = form;',
    ...headers
      .filter(([name]) => name !== 'Content-Type')
      .map(
        ([name, value]) => `request.Headers.TryAddWithoutValidation("${name}", ${JSON.stringify(value)});`,
      ),
    'using var response = await client.SendAsync(request);',
    'var text = await response.Content.ReadAsStringAsync();',
    'if (!response.IsSuccessStatusCode) throw new Exception(text);',
    response === 'none' ? 'Console.WriteLine((int)response.StatusCode);' : 'Console.WriteLine(text);',
  );
}

function java({ method, url, headers, json, file, response }: Call): string {
  const text = json !== undefined && pretty(json, '            ').replaceAll('\\', '\\\\');
  const publisher =
    text !== false
      ? `HttpRequest.BodyPublishers.ofString("""\n            ${text}\n            """)`
      : file !== undefined
        ? 'body'
        : 'HttpRequest.BodyPublishers.noBody()';
  return lines(
    'import java.net.URI;\nimport java.net.http.HttpClient;\nimport java.net.http.HttpRequest;\nimport java.net.http.HttpResponse;',
    file !== undefined && 'import java.nio.file.Path;',
    '\npublic class Sample {\n  public static void main(String[] arguments) throws Exception {',
    file !== undefined &&
      `    var body = HttpRequest.BodyPublishers.concat(
        HttpRequest.BodyPublishers.ofString("--part\\r\\nContent-Disposition: form-data; name=\\"file\\"; filename=\\"${file}\\"\\r\\n\\r\\n"),
        HttpRequest.BodyPublishers.ofFile(Path.of("${file}")),
        HttpRequest.BodyPublishers.ofString("\\r\\n--part--\\r\\n"));`,
    `    var request = HttpRequest.newBuilder(URI.create("${url}"))`,
    '        .header("Authorization", "Bearer " + System.getenv("SOUNDINGS_TOKEN"))',
    ...headers.map(([name, value]) => `        .header("${name}", ${JSON.stringify(value)})`),
    file !== undefined && '        .header("Content-Type", "multipart/form-data; boundary=part")',
    `        .method("${method}", ${publisher})`,
    '        .build();',
    '    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    '    if (response.statusCode() >= 400) throw new RuntimeException(response.body());',
    `    System.out.println(response.${response === 'none' ? 'statusCode' : 'body'}());`,
    '  }\n}',
  );
}

function powerShell({ method, url, headers, json, file, response }: Call): string {
  const [, type] = headers.find(([name]) => name === 'Content-Type') ?? [];
  const own = headers
    .filter(([name]) => name !== 'Content-Type')
    .map(([name, value]) => `$request.Headers['${name}'] = '${value.replaceAll("'", "''")}'`);
  return lines(
    json !== undefined && `$body = @'\n${pretty(json)}\n'@\n`,
    '$request = @{',
    `  Uri = '${url}'`,
    `  Method = '${method}'`,
    '  Headers = @{ Authorization = "Bearer $env:SOUNDINGS_TOKEN" }',
    json !== undefined && `  ContentType = '${type}'`,
    json !== undefined && '  Body = [Text.Encoding]::UTF8.GetBytes($body)',
    file !== undefined && `  Form = @{ file = Get-Item '${file}' } # PowerShell 7`,
    '}',
    ...own,
    response === 'json'
      ? 'Invoke-RestMethod @request | ConvertTo-Json -Depth 10'
      : 'Invoke-RestMethod @request',
  );
}
