// Where the documents of the page come from: a live page's server, or a report's own text.

const element = document.getElementById("data");

// {version, run, programs} of a report; null in a live page.
export const inlined = element && JSON.parse(element.textContent);

// A program's document. Failures throw an Error whose message is for people.
export async function programDocument(id) {
  if (inlined) return inlinedProgram(id);
  let answer, body;
  try {
    answer = await fetch(`/api/programs/${id}`);
    body = await answer.json();
  } catch {
    throw new Error("The server of this page does not answer.");
  }
  if (!answer.ok) throw new Error(body.detail);
  return body;
}

function inlinedProgram(id) {
  const found = inlined.programs[id];
  if (!found) throw new Error("This report had no room for it: kernelsmith ui shows all programs of the run.");
  return found;
}
