docker buildx build --push --platform linux/amd64 -t registry.example.com/built:1 .
