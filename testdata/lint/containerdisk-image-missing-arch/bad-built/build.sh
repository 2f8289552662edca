docker buildx build --push --platform linux/amd64 -t registry.example.com/built:1 .
#~     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ note: this says what the image has
