/** Returns the anchor of a heading, as GitHub makes it. The pages link to these anchors on GitHub and on the site. */
export function githubSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "")
    .replaceAll(" ", "-");
}
