/** Corrects the default theme's ARIA roles that axe-core rejects, now and whenever the page changes. */
export function improveRoles(): void {
  const observer = new MutationObserver(improve);
  const attributeFilter = ["id", "aria-selected"];
  observer.observe(document, { subtree: true, childList: true, attributeFilter });
  improve();
}

function improve(): void {
  document.querySelector(".VPHome")?.setAttribute("role", "main");
  // The shortcut is not part of the name of the button, "Search", so the style sheet draws the letter instead.
  const letter = document.querySelector(".DocSearch-Button-Key:last-child");
  if (letter?.textContent) letter.textContent = "";
  // The heading around the arrow is already a button.
  for (const arrow of document.querySelectorAll(".VPSidebarItem .caret[role]")) {
    for (const name of ["role", "tabindex", "aria-label"]) arrow.removeAttribute(name);
  }
  const box = document.querySelector(".VPLocalSearchBox[aria-expanded]");
  if (box !== null) {
    for (const name of ["aria-expanded", "aria-haspopup", "aria-owns"]) box.removeAttribute(name);
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", "Search");
  }
  for (const key of document.querySelectorAll(".VPLocalSearchBox kbd[aria-label]"))
    key.setAttribute("role", "img");
  for (const item of document.querySelectorAll(
    ".VPLocalSearchBox .results > li:is([id], [aria-selected])",
  ))
    improveResult(item);
}

/** Moves the `option` role from the list item to its link, because an option must not contain a link. */
function improveResult(item: Element): void {
  const link = item.querySelector("a");
  if (link === null) return;
  link.setAttribute("role", "option");
  link.removeAttribute("aria-label");
  for (const name of ["id", "aria-selected"]) {
    const value = item.getAttribute(name);
    if (value === null) continue;
    link.setAttribute(name, value);
    item.removeAttribute(name);
  }
  item.setAttribute("role", "none");
}
