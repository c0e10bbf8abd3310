import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Change, nextVersion, readChange } from "../../scripts/release/change.ts";
import { withRelease } from "../../scripts/release/changelog.ts";
import { root } from "../../scripts/root.ts";

const added: Change = { release: "minor", section: "Added", text: "- A new $&." };
const fixed: Change = { release: "patch", section: "Fixed", text: "- A bug." };
const major: Change = { release: "major", section: "Removed", text: "- An option." };

test("every file of .changeset/ can be read", () => {
  const files = globSync(".changeset/*.md", { cwd: root });
  for (const name of files) readChange(name, readFileSync(join(root, name), "utf8"));
});

test.each([
  ["another release", "---\nrelease: huge\nsection: Added\n---\n\n- X.\n"],
  ["another section", "---\nrelease: minor\nsection: News\n---\n\n- X.\n"],
  ["no list", "---\nrelease: minor\nsection: Added\n---\n\nX.\n"],
  ["no header", "- X.\n"],
])("a file with %s is rejected by its name", (_, content) => {
  expect(() => readChange(".changeset/x.md", content)).toThrow(/^\.changeset\/x\.md needs/);
});

test.each([
  ["0.1.2", [fixed], "0.1.3"],
  ["0.1.2", [fixed, added], "0.2.0"],
  ["0.1.2", [major], "0.2.0"],
  ["1.1.2", [fixed], "1.1.3"],
  ["1.1.2", [fixed, added], "1.2.0"],
  ["1.1.2", [added, major], "2.0.0"],
])("the version after %s", (version, changes, next) => {
  expect(nextVersion(version, changes)).toBe(next);
});

const at = { current: "0.1.0", day: "2026-11-28" };

test("the first version takes the entries of Unreleased", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n**Parts**\n\n- The bot.\n";
  expect(withRelease(changelog, [added, fixed], at)).toEqual({
    version: "0.1.0",
    changelog:
      "# Changelog\n\n## 0.1.0 - 2026-11-28\n\n### Added\n\n- A new $&.\n\n**Parts**\n\n- The bot.\n\n### Fixed\n\n- A bug.\n",
  });
});

test("a later version stands above the earlier ones", () => {
  const earlier = "## 0.1.0 - 2026-11-27\n\n### Added\n\n- The bot.\n";
  expect(withRelease(`# Changelog\n\n${earlier}`, [fixed, added, added], at)).toEqual({
    version: "0.2.0",
    changelog: `# Changelog\n\n## 0.2.0 - 2026-11-28\n\n### Added\n\n- A new $&.\n- A new $&.\n\n### Fixed\n\n- A bug.\n\n${earlier}`,
  });
});
