interface Release {
  readonly version: string;
  /** Of the heading: a day, or `not released`. */
  readonly when: string;
  readonly changes: readonly string[];
}

/**
 * CHANGELOG.md in the form of deb-changelog(5), which `apt changelog` and others read.
 *
 * @param maintainer `Name <address>`
 * @param epochSeconds the time of a version that is not released yet
 * @throws when a heading is not `## VERSION (DAY)` or `## VERSION (not released)`
 */
export function debianChangelog(markdown: string, maintainer: string, epochSeconds: number): string {
  return releasesOf(markdown)
    .map(({ version, when, changes }) => {
      const isReleased = when !== NOT_RELEASED;
      const time = isReleased ? new Date(`${when}T00:00:00Z`) : new Date(epochSeconds * 1000);
      const head = `dropcast (${version}) ${isReleased ? 'stable' : 'UNRELEASED'}; urgency=medium`;
      const lines = changes.map((change) => `  * ${wrapped(change).join('\n    ')}`);
      return `${head}\n\n${lines.join('\n')}\n\n -- ${maintainer}  ${time.toUTCString().replace('GMT', '+0000')}\n`;
    })
    .join('\n');
}

const NOT_RELEASED = 'not released';

function releasesOf(markdown: string): readonly Release[] {
  const [, ...sections] = markdown.split(/^## /m);
  return sections.map((section) => {
    const heading = /^(\S+) \((not released|\d{4}-\d{2}-\d{2})\)\n/.exec(section);
    if (heading === null) throw new Error(`CHANGELOG.md: expected "## VERSION (DAY)": ${section.split('\n', 1)[0]}`);
    const [, version = '', when = ''] = heading;
    const changes = [...section.matchAll(/^- (.+)$/gm)].map(([, change = '']) => change.replaceAll('`', ''));
    return { version, when, changes };
  });
}

/** Lines of at most 74 characters, as readers of such files expect them below 80 with their indent. */
function wrapped(text: string): readonly string[] {
  return text.match(/\S.{0,73}(?=\s|$)/g) ?? [];
}
