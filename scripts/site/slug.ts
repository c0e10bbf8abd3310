/** Returns GitHub's anchor for a heading. Links use the same anchors on GitHub and on the site. */
export function githubSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "")
    .replaceAll(" ", "-");
}
