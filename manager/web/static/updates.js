// Brings a file in pieces: a request of these pages has to be there within seconds, and an update is
// hundreds of megabytes. When all pieces are here, the form itself is sent.
const PIECE_BYTES = 2 * 1024 * 1024;
const form = document.getElementById("bring");

function say(sentence) {
  const place = document.getElementById("trouble");
  place.textContent = sentence;
  place.hidden = !sentence;
}

async function bring(file, key) {
  const shown = document.getElementById("come");
  shown.hidden = false;
  for (let place = 0; place < file.size; place += PIECE_BYTES) {
    const body = file.slice(place, place + PIECE_BYTES);
    const answer = await fetch(`/updates/pieces/${place}`, { method: "PUT", body, headers: { "x-form-key": key } });
    if (!answer.ok) {
      const told = await answer.json().catch(() => ({}));
      throw new Error(told.error || "The manager did not take the file.");
    }
    shown.value = Math.min(1, (place + PIECE_BYTES) / file.size);
  }
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  say("");
  try {
    await bring(document.getElementById("file").files[0], form.elements.form_key.value);
    form.submit();
  } catch (error) {
    say(error.message);
    button.disabled = false;
  }
});
