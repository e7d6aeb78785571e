// Renders the Helm chart and reads compose.yaml, and checks them: .ci/deploy says how. Prints what it checked, or throws.
//   node .ci/check-deploy.js FOLDER     FOLDER: has the tools
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const tools = process.argv[2];
const require = createRequire(join(tools, 'node_modules', 'x'));
const yaml = require('js-yaml');
const say = (text) => process.stdout.write(`${text}\n`);
const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const settings = readFileSync('docs/operators/configuration.md', 'utf8');

function check(met, message) {
  if (!met) throw new Error(message);
}

function helm(...more) {
  const args = [
    'template',
    'sample',
    'deploy/helm/soundings',
    '--values',
    'deploy/helm/example.yaml',
    ...more,
  ];
  return execFileSync(join(tools, 'layer/helm/helm'), args, { encoding: 'utf8', stdio: 'pipe' });
}

/** Returns the objects of a rendered chart, after checking each against the schema of its kind. */
async function rendered(...more) {
  const objects = yaml.loadAll(helm(...more)).filter(Boolean);
  for (const object of objects) {
    const { apiVersion, kind } = object;
    const file = join(tools, 'node_modules', 'kubernetes-models', apiVersion, `${kind}.js`);
    const { [kind]: Model } = await import(pathToFileURL(file).href);
    new Model(object).validate();
  }
  return objects;
}

/** Checks that the objects refer to each other correctly. */
function checkReferences(objects) {
  const of = (kind) => objects.filter((object) => object.kind === kind);
  const [{ spec }] = of('StatefulSet');
  const { labels } = spec.template.metadata;
  const selectors = [
    spec.selector.matchLabels,
    spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ...of('Service').map((one) => one.spec.selector),
    ...of('PodDisruptionBudget').map((one) => one.spec.selector.matchLabels),
    ...of('NetworkPolicy').map((one) => one.spec.podSelector.matchLabels),
  ];
  for (const selector of selectors) {
    check(
      Object.entries(selector).every(([name, value]) => labels[name] === value),
      `selects no pod: ${JSON.stringify(selector)}`,
    );
  }
  const [container] = spec.template.spec.containers;
  const ports = container.ports.map(({ name }) => name);
  const used = [
    ...of('Service').flatMap((one) => one.spec.ports.map(({ targetPort }) => targetPort)),
    ...of('NetworkPolicy').flatMap((one) =>
      one.spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port)),
    ),
    container.readinessProbe.httpGet.port,
    container.livenessProbe.httpGet.port,
  ];
  for (const port of used) check(ports.includes(port), `no container has the port ${port}`);
  const services = of('Service').map((one) => one.metadata.name);
  check(services.includes(spec.serviceName), `there is no service ${spec.serviceName}`);
  for (const { backend } of of('Ingress')[0]?.spec.rules[0].http.paths ?? [])
    check(services.includes(backend.service.name), `there is no service ${backend.service.name}`);
  const maps = of('ConfigMap').map((one) => one.metadata.name);
  for (const { configMapRef } of container.envFrom)
    check(!configMapRef || maps.includes(configMapRef.name), `there is no ConfigMap ${configMapRef?.name}`);
  const volumes = [
    ...spec.template.spec.volumes,
    ...(spec.volumeClaimTemplates ?? []).map((one) => one.metadata),
  ];
  for (const { name } of container.volumeMounts)
    check(volumes.filter((one) => one.name === name).length === 1, `not exactly one volume ${name}`);
  const mountOf = (path) => container.volumeMounts.find((one) => one.mountPath === path)?.name;
  const { BACKUP_DIR: backups } = of('ConfigMap')[0].data;
  const claims = (spec.volumeClaimTemplates ?? []).map((one) => one.metadata.name);
  check(
    backups === 'off' || claims.includes(mountOf(backups)),
    'backups before an update are not in a volume',
  );
  check(mountOf(backups) !== mountOf('/var/lib/soundings'), 'backups are in the volume of the keys');
  for (const name of Object.keys(of('ConfigMap')[0].data))
    check(settings.includes(`| \`${name}\` |`), `there is no setting ${name}`);
}

/** Checks that a pod meets the "restricted" standard of Kubernetes, and has a read-only root file system. */
function checkSecurity(objects) {
  const { template } = objects.find(({ kind }) => kind === 'StatefulSet').spec;
  const { runAsNonRoot, runAsUser, seccompProfile } = template.spec.securityContext;
  check(
    runAsNonRoot && runAsUser > 0 && seccompProfile.type === 'RuntimeDefault',
    'the pod is not restricted',
  );
  for (const { securityContext: own } of template.spec.containers) {
    check(own.readOnlyRootFilesystem && own.allowPrivilegeEscalation === false, 'a container can be changed');
    check(equal(own.capabilities, { drop: ['ALL'] }), 'a container has capabilities');
  }
  const grace = template.spec.terminationGracePeriodSeconds;
  const { DRAIN_SECONDS, SHUTDOWN_SECONDS } = objects.find(({ kind }) => kind === 'ConfigMap').data;
  check(grace > Number(DRAIN_SECONDS) + Number(SHUTDOWN_SECONDS), 'a pod is killed before it has stopped');
}

/** Lets the TypeScript compiler check the objects, because the schemas allow unknown fields, such as misspelled ones. */
function checkFields(objects) {
  const lines = objects.map(
    ({ apiVersion, kind, ...fields }, i) =>
      `import type { I${kind} as T${i} } from 'kubernetes-models/${apiVersion}';\n` +
      `export const o${i}: T${i} = ${JSON.stringify({ apiVersion, kind, ...fields }, null, 1)};`,
  );
  const file = join(tools, 'objects.ts');
  writeFileSync(file, lines.join('\n'));
  const options =
    '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext --types'.split(' ');
  execFileSync('node_modules/.bin/tsc', [...options, '', file], { stdio: 'inherit' });
}

const variants = [
  [],
  ['--set', 'backups.enabled=false'],
  ['--set', 'answerKeys=database,backups.enabled=false'],
  ['--set', 'answerKeys=database,sftp.enabled=false,ingress.enabled=false,networkPolicy.enabled=false'],
  [
    '--set',
    'replicas=3,sftp.service.type=LoadBalancer,volume.storageClassName=fast,backups.storageClassName=slow,podDisruptionBudget.enabled=false',
  ],
  [
    '--set-json',
    'networkPolicy={"httpFrom":[{"podSelector":{}}],"sftpFrom":[{"ipBlock":{"cidr":"192.0.2.0/24"}}],"egress":[]}',
  ],
  [
    '--set-json',
    'tolerations=[{"key":"a","operator":"Exists"}]',
    '--set',
    'nodeSelector.a=b,podLabels.a=b,podAnnotations.a=b',
  ],
];
const all = [];
for (const variant of variants) {
  const objects = await rendered(...variant);
  checkReferences(objects);
  checkSecurity(objects);
  all.push(...objects);
}
checkFields(all);
say(`The chart: ${all.length} objects in ${variants.length} variants are valid.`);

const refused = [
  ['publicUrl=surveys.example.com', /publicUrl/],
  ['trustProxy=null', /trustProxy/],
  ['database.secretName=', /secretName/],
  ['settings.DATABASE_URL=postgres://a', /DATABASE_URL|propertyNames|settings/],
  ['settings.BACKUP_DIR=/tmp', /BACKUP_DIR|propertyNames|settings/],
  ['backups.size=large', /size/],
  ['replica=3', /replica/],
];
for (const [value, message] of refused) {
  let said = 'accepted';
  try {
    helm('--set', value);
  } catch (error) {
    said = error.stderr;
  }
  check(message.test(said), `${value}: ${said}`);
}
say(`The chart refuses ${refused.length} wrong values.`);

/** Returns what Docker Compose makes of compose.yaml with example.env, after the given replacement. */
function composed(from, to) {
  const text = readFileSync('deploy/example.env', 'utf8').replaceAll(from, to);
  writeFileSync(join(tools, 'env'), text);
  const args = [
    '--env-file',
    join(tools, 'env'),
    '--file',
    'deploy/compose.yaml',
    'config',
    '--format',
    'json',
  ];
  return JSON.parse(execFileSync(join(tools, 'docker-compose'), args, { encoding: 'utf8', stdio: 'pipe' }));
}

let said = 'accepted';
try {
  composed('', '');
} catch (error) {
  said = error.stderr;
}
check(/Set POSTGRES_PASSWORD in deploy\/.env/.test(said), `without a password: ${said}`);
const plain = composed('PASSWORD=', 'PASSWORD=secret');
check(equal(Object.keys(plain.services), ['postgres', 'soundings']), 'Caddy runs without its profile');
const full = composed(/^(POSTGRES_PASSWORD=)|^# (?=[A-Z_]+=)/gm, (_, name) => (name ? `${name}secret` : ''));
const { soundings, caddy } = full.services;
for (const name of Object.keys(soundings.environment))
  check(settings.includes(`| \`${name}\` |`), `there is no setting ${name}`);
check(
  soundings.environment.DATABASE_URL === 'postgres://soundings:secret@postgres:5432/soundings',
  'DATABASE_URL',
);
check(
  soundings.environment.PUBLIC_URL === `https://${caddy.environment.SITE}`,
  'PUBLIC_URL is not that of Caddy',
);
const backups = soundings.volumes.find(({ target }) => target === soundings.environment.BACKUP_DIR);
check(backups?.source === 'backups', 'backups before an update are not in their volume');
check(soundings.read_only && equal(soundings.cap_drop, ['ALL']), 'the container can be changed');
const [{ subnet, ip_range: others }] = full.networks.inside.ipam.config;
const { ipv4_address: address } = caddy.networks.inside;
check(soundings.environment.TRUST_PROXY === address, 'TRUST_PROXY is not the address of Caddy');
const isWithin = (range) => {
  const list = new BlockList();
  list.addSubnet(...range.split('/').map((part, i) => (i === 0 ? part : Number(part))));
  return list.check(address);
};
check(isWithin(subnet) && !isWithin(others), `${address} is not reserved in the network`);
say(`compose.yaml: ${Object.keys(full.services).length} services are valid.`);
