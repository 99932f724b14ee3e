// Small steps on the page that write only what changed, so that nothing flickers or loses a touch.

export const byId = (id) => document.getElementById(id);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

export function setData(element, name, value) {
  if (element && element.dataset[name] !== String(value)) element.dataset[name] = String(value);
}

export function setAttribute(element, name, value) {
  if (element && element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export function setHidden(element, hidden) {
  if (element && element.hidden !== hidden) element.hidden = hidden;
}

// Fills `list` with one copy of <template id=templateId> per item; does nothing when the items are
// the same as last time.
export function fill(list, templateId, items, write) {
  const print = JSON.stringify(items);
  if (list.dataset.print === print) return;
  list.dataset.print = print;
  const template = byId(templateId).content;
  list.replaceChildren(
    ...items.map((item) => {
      const row = template.firstElementChild.cloneNode(true);
      write(row, item);
      return row;
    }),
  );
}

// Writes text into the child marked [data-slot=name].
export function slot(row, name, text) {
  setText(row.querySelector(`[data-slot="${name}"]`), text);
}
