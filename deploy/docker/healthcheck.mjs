// The health check of the image: exits with 0 if the process answers.
const answer = await fetch(`http://127.0.0.1:${process.env.PORT}/health`, { signal: AbortSignal.timeout(4_000) }).catch(
  (error) => error,
)
if (answer instanceof Error || !answer.ok) {
  console.error(answer instanceof Error ? (answer.cause?.message ?? answer.message) : `HTTP ${answer.status}`)
  process.exit(1)
}
