/** The attributes and properties of a new element. Text is never parsed as markup. */
interface Given {
  readonly class?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
  readonly onClick?: (event: MouseEvent) => void;
}

export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  given: Given = {},
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (given.class !== undefined) element.className = given.class;
  if (given.text !== undefined) element.textContent = given.text;
  for (const [attribute, value] of Object.entries(given.attributes ?? {})) element.setAttribute(attribute, value);
  element.append(...(given.children ?? []));
  if (given.onClick !== undefined) element.addEventListener("click", given.onClick as EventListener);
  return element;
}

export function createButton(name: string, text: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  return createElement("button", { class: name, text, attributes: { type: "button" }, onClick });
}

/** Creates an icon from the path of its outline. */
export function createIcon(path: string): SVGSVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(namespace, "svg");
  const attributes = { viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attributes)) icon.setAttribute(name, value);
  const outline = document.createElementNS(namespace, "path");
  outline.setAttribute("d", path);
  outline.setAttribute("stroke-width", "1.8");
  outline.setAttribute("stroke-linecap", "round");
  outline.setAttribute("stroke-linejoin", "round");
  icon.append(outline);
  return icon;
}

/** Sets the text of an element only if it changes, so that screen readers do not repeat it. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
