// A sentence in the page's language, by its English words. The page brings the words of its language
// with it; English needs none. "{}" stands where an argument belongs; a translation may number them.

const words = JSON.parse(document.documentElement.dataset.words ?? "{}");

export function say(template, ...filled) {
  let next = 0;
  return (words[template] ?? template).replace(/\{(\d*)\}/g, (_, place) => String(filled[place === "" ? next++ : Number(place)]));
}
