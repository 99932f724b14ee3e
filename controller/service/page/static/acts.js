// Asks the unit to do something, and says what it answered.

let told = () => {};

export function onSaid(listener) {
  told = listener;
}

export async function act(action, argument = "") {
  try {
    const answer = await fetch("/act", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ action, argument }) });
    if (answer.status === 401) return location.reload();
    const said = await answer.json();
    told(said.sentence);
    return said.accepted;
  } catch {
    told("The unit does not answer.");
    return false;
  }
}

export async function pull(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.json()).sentence);
  return answer.json();
}
