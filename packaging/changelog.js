// Reads and writes CHANGELOG.md, which has a section for what is not released yet, and one for each version.
const heading = '## Unreleased';

/** Returns the changelog with everything that is not released yet under a version. `date`: YYYY-MM-DD. */
export function withRelease(changelog, version, date) {
  const [before, after, ...more] = changelog.split(`${heading}\n`);
  if (after === undefined || more.length > 0) throw new Error(`CHANGELOG.md needs one section "${heading}".`);
  if (sectionOf(changelog, version) !== undefined)
    throw new Error(`CHANGELOG.md already has a section for ${version}.`);
  if (sectionOf(changelog, 'Unreleased') === '')
    throw new Error(`CHANGELOG.md has no changes under "${heading}". There is nothing to release.`);
  return `${before}${heading}\n\n## ${version} (${date})\n${after}`;
}

/** Returns the changes of a version, or of `Unreleased`, without the heading; undefined if there is no such section. */
export function sectionOf(changelog, version) {
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((one) => one.split('\n')[0].split(' ')[1] === version);
  return found?.split('\n').slice(1).join('\n').trim();
}

/** Returns the notes of a release: its changes, which begin with what to do when upgrading. */
export function notesOf(changelog, version) {
  const changes = sectionOf(changelog, version);
  if (!changes) throw new Error(`CHANGELOG.md has no changes under "## ${version}".`);
  const upgrading = /^### Upgrading$/m.test(changes) ? '' : '### Upgrading\n\nThere is nothing to do.\n\n';
  return `# Soundings ${version}\n\n${upgrading}${changes}\n`.replace(/^###/gm, '##');
}
